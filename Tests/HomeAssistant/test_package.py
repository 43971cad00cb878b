"""What Home Assistant's own checks and HACS ask of the files of an integration."""

import ast
import json
from pathlib import Path
import re

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
LAYOUT = ROOT / "packaging" / "home-assistant"
PACKAGE = LAYOUT / "custom_components" / "tutti"
LANGUAGES = sorted((PACKAGE / "translations").glob("*.json"))
# https://developers.home-assistant.io/docs/core/integration-quality-scale/rules
RULES = {
    "bronze": """action-setup appropriate-polling brands common-modules config-flow config-flow-test-coverage
        dependency-transparency docs-actions docs-high-level-description docs-installation-instructions
        docs-removal-instructions entity-event-setup entity-unique-id has-entity-name runtime-data
        test-before-configure test-before-setup unique-config-entry""",
    "silver": """action-exceptions config-entry-unloading docs-configuration-parameters
        docs-installation-parameters entity-unavailable integration-owner log-when-unavailable parallel-updates
        reauthentication-flow test-coverage""",
    "gold": """devices diagnostics discovery discovery-update-info docs-data-update docs-examples
        docs-known-limitations docs-supported-devices docs-supported-functions docs-troubleshooting
        docs-use-cases dynamic-devices entity-category entity-device-class entity-disabled-by-default
        entity-translations exception-translations icon-translations reconfiguration-flow repair-issues
        stale-devices""",
    "platinum": "async-dependency inject-websession strict-typing",
}


def load(path):
    return json.loads(path.read_text())


def leaves(tree, path=""):
    """Return the texts of a tree by their paths."""
    if isinstance(tree, str):
        return {path: tree}
    return {k: v for key, part in tree.items() for k, v in leaves(part, f"{path}/{key}").items()}


def names(text):
    return set(re.findall(r"{(\w+)}", text))


def sources():
    return {path.name: path.read_text() for path in PACKAGE.glob("*.py")}


def constants(pattern):
    return {found for text in sources().values() for found in re.findall(pattern, text)}


def test_manifest_says_what_is_asked():
    manifest = load(PACKAGE / "manifest.json")
    keys = list(manifest)
    assert keys[:2] == ["domain", "name"] and keys[2:] == sorted(keys[2:])
    # HACS and Home Assistant's checks ask for these of a custom integration.
    for key in ("codeowners", "documentation", "issue_tracker", "version", "iot_class", "requirements"):
        assert key in manifest
    assert manifest["domain"] == PACKAGE.name and manifest["config_flow"] is True
    assert manifest["integration_type"] == "hub" and manifest["iot_class"] == "local_push"
    assert manifest["codeowners"] and all(owner.startswith("@") for owner in manifest["codeowners"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    heading = re.search(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert manifest["version"] == heading[1]
    assert all(re.fullmatch(r"_[a-z-]+\._tcp\.local\.", kind) for kind in manifest["zeroconf"])
    announced = (ROOT / "Sources/Executables/tutti/HouseSurfaces.swift").read_text()
    assert f'"{manifest["zeroconf"][0].removesuffix(".local.")}"' in announced


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.stem)
def test_translations_have_the_same_keys_and_names(path):
    english, other = leaves(load(PACKAGE / "strings.json")), leaves(load(path))
    assert other.keys() == english.keys()
    for key, text in english.items():
        assert names(other[key]) == names(text), key
        assert other[key] == other[key].strip() != "", key


def test_english_is_what_the_code_says():
    assert load(PACKAGE / "translations" / "en.json") == load(PACKAGE / "strings.json")
    assert {path.stem for path in LANGUAGES} >= {"en", "de"}


def test_every_key_in_the_code_has_a_text_and_every_text_a_key():
    from custom_components.tutti import issues
    from custom_components.tutti.sensor import SENSORS

    strings = load(PACKAGE / "strings.json")
    assert constants(r'translation_key="(\w+)"') == set(strings["exceptions"])
    faults = set(issues.ROOM_FAULTS.values()) | set(issues.SERVER_FAULTS) | constants(r'Fault\(key="(\w+)"')
    assert faults == set(strings["issues"])
    house = constants(r'(?:runtime_data|household), "(\w+)"')
    entities = {sensor.key for sensor in SENSORS} | constants(r'room, "(\w+)"\)') | house
    assert entities == {key for kind in strings["entity"].values() for key in kind}
    flow = sources()["config_flow.py"]
    steps = set(re.findall(r'step_id="(\w+)"', flow)) | set(re.findall(r'_address\("(\w+)"', flow))
    assert steps == set(strings["config"]["step"])
    said = {node.value for node in ast.walk(ast.parse(flow)) if isinstance(node, ast.Constant)}
    assert set(strings["config"]["error"]) <= said
    assert set(strings["config"]["abort"]) - {"already_configured"} <= said


def test_services_have_texts_and_icons():
    services = yaml.safe_load((PACKAGE / "services.yaml").read_text())
    strings, icons = load(PACKAGE / "strings.json"), load(PACKAGE / "icons.json")
    assert services.keys() == strings["services"].keys() == icons["services"].keys()
    for name, service in services.items():
        texts, fields = strings["services"][name], service.get("fields", {})
        assert texts["name"] and texts["description"]
        assert fields.keys() == texts.get("fields", {}).keys()
        assert all(field["selector"] for field in fields.values())
    for kind, texts in strings["entity"].items():
        # The class of an identify button has an icon of its own.
        assert icons["entity"][kind].keys() == texts.keys() - {"identify"}
    assert all(re.fullmatch(r"mdi:[a-z-]+", icon) for icon in leaves(icons).values())


def test_quality_is_gold():
    rules = yaml.safe_load((PACKAGE / "quality_scale.yaml").read_text())["rules"]
    assert rules.keys() == {rule for level in RULES.values() for rule in level.split()}
    for rule in f"{RULES['bronze']} {RULES['silver']} {RULES['gold']}".split():
        status = rules[rule]
        if isinstance(status, dict):
            assert status["status"] == "exempt" and len(status["comment"]) > 20, rule
        else:
            assert status == "done", rule


def test_layout_is_that_of_hacs():
    hacs = load(LAYOUT / "hacs.json")
    assert hacs["name"] and not hacs["content_in_root"]
    # The oldest Home Assistant that is tried.
    assert hacs["homeassistant"] == "2024.3.0"
    assert "2024.3.3)" in (ROOT / "Tests/HomeAssistant/run.sh").read_text()
    assert [path.name for path in (LAYOUT / "custom_components").iterdir()] == ["tutti"]
    assert (LAYOUT / "README.md").stat().st_size > 1000


@pytest.mark.parametrize(("name", "width"), [("icon.png", 256), ("icon@2x.png", 512)])
def test_icon_has_the_size_that_is_asked(name, width):
    picture = (PACKAGE / "brand" / name).read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(picture[at : at + 4]) for at in (16, 20)] == [width, width]
