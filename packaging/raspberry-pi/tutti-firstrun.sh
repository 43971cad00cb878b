#!/bin/sh
# For the partition bootfs of an SD card, beside a package tutti-receiver_..._arm64.deb, where cloud-init does not set the system up.
# Host name, user and Wi-Fi come from Raspberry Pi Imager, whose own script is bootfs/firstrun.sh: leave that one there. At the end of
# the only line of cmdline.txt Imager has written systemd.run=/boot/firstrun.sh and two more words. Add one behind them:
#   systemd.run=/boot/tutti-firstrun.sh
# in the folder that Imager's has. systemd runs both scripts, one after the other, and reboots.

set -eu
# All words of Imager's must go: systemd.unit= alone would lead into the rescue mode at each boot.
sed -i 's# systemd\.\(run\|unit\)[^ ]*##g' /boot/firmware/cmdline.txt
mkdir -p /etc/NetworkManager/conf.d
printf '# Power saving delays packets by 50 to 200 ms.\n[connection]\nwifi.powersave=2\n' >/etc/NetworkManager/conf.d/no-power-save.conf
# The network comes after this script; the package is installed at the next boot, and again until that has succeeded: somebody may pull
# the plug while it is unpacked.
cat >/etc/systemd/system/tutti-install.service <<'END'
[Unit]
Description=Installs the Tutti receiver, once
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
Restart=on-failure
RestartSec=30
ExecStart=sh -c 'export DEBIAN_FRONTEND=noninteractive; dpkg --force-confold --configure -a; apt-get update && apt-get install -y -f /boot/firmware/tutti-receiver_*_arm64.deb'
ExecStartPost=systemctl disable tutti-install

[Install]
WantedBy=multi-user.target
END
systemctl enable tutti-install
