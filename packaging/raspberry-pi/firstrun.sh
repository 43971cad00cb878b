#!/bin/sh
# For the partition bootfs of an SD card, beside a package tutti-receiver_..._arm64.deb, where cloud-init does not set the system up.
# Add to the only line of cmdline.txt: systemd.run=/boot/firmware/firstrun.sh systemd.run_success_action=reboot
# The room has this name. User and Wi-Fi come from Raspberry Pi Imager.
name=kitchen

set -eu
sed -i 's| systemd\.run[^ ]*||g' /boot/firmware/cmdline.txt
sed -i "s/\b$(hostname)\b/$name/g" /etc/hosts
echo "$name" >/etc/hostname
mkdir -p /etc/NetworkManager/conf.d
printf '# Power saving delays packets by 50 to 200 ms.\n[connection]\nwifi.powersave=2\n' >/etc/NetworkManager/conf.d/no-power-save.conf
# The network comes after this script; the package is installed at the next boot.
cat >/etc/systemd/system/tutti-install.service <<'END'
[Unit]
Description=Installs the Tutti receiver, once
Wants=network-online.target
After=network-online.target
ConditionPathExists=!/usr/bin/tutti-receiver

[Service]
Type=oneshot
Restart=on-failure
RestartSec=30
ExecStart=sh -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y /boot/firmware/tutti-receiver_*_arm64.deb'
ExecStartPost=systemctl disable tutti-install

[Install]
WantedBy=multi-user.target
END
systemctl enable tutti-install
