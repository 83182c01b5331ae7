#!/bin/busybox sh
# The first process of the guest: loads the modules that the kernel command line names (mods=a,b),
# runs the agent with the name of the scenario (lab=NAME), and powers off.
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /tmp
mkdir -p /run /var/lock /etc /root
echo /bin/modprobe >/proc/sys/kernel/modprobe # for what a cipher or a file system asks for by itself
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root DM_DISABLE_UDEV=1 GOTRACEBACK=all
for w in $(cat /proc/cmdline); do
	case $w in
	mods=*) mods=${w#mods=} ;;
	lab=*) lab=${w#lab=} ;;
	esac
done
for m in $(echo "$mods" | tr , ' '); do modprobe "$m" || echo "cannot load $m"; done
ip link set lo up
/inside "$lab"
echo "agent ended: $?"
sync
poweroff -f
