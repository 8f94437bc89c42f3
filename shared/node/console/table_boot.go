package console

import "rollcall/shared/checkid"

// bootRows are failures of the kernel, the disks and the operating system.
func bootRows() []row {
	return []row{
		{
			// In the form of Linux, init/do_mounts.c.
			id: "no-root-device", sample: "[    1.224861] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
			all:   [][]string{{"unable to mount root fs", "cannot find root device", "gave up waiting for root"}},
			phase: inKernel, late: true,
			title: "the kernel finds no root volume",
			means: "The kernel did not find the volume that it starts from: the image lacks a driver (NVMe, ENA), or its root device is named wrongly.",
			next:  "Start from an image that is made for this instance type, or correct the launch template's block device mapping.",
			check: checkid.InstanceAMI,
		},
		{
			// In the form of Linux, kernel/exit.c.
			id: "kernel-panic", sample: "[    2.681293] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00007f00",
			all: [][]string{{"kernel panic - not syncing"}}, phase: inKernel, late: true,
			title: "the kernel stopped with a panic",
			means: "The kernel stopped: nothing runs on the instance.",
			next:  "Start another image or an earlier version of it; replace the instance.",
			check: checkid.InstanceAMI,
		},
		{
			// GRUB's prompt after it failed.
			id: "boot-loader", sample: "grub rescue>",
			all: [][]string{{"grub rescue>", "grubdom>", "error: no such partition", "error: unknown filesystem"}}, phase: inKernel, late: true,
			title: "the boot loader found nothing to start",
			means: "The boot loader stopped at its prompt: the image has no kernel where it looks for one.",
			next:  "Start another image or an earlier version of it.",
			check: checkid.InstanceAMI,
		},
		{
			// systemd's emergency.service says so.
			id: "emergency-mode", sample: `You are in emergency mode. After logging in, type "journalctl -xb" to view`,
			all: [][]string{{"you are in emergency mode", "welcome to emergency mode", "entering emergency mode", "you are in rescue mode"}}, phase: inKernel, late: true,
			title: "the operating system is in emergency mode",
			means: "The start stopped and waits for somebody at the console: mostly a line of /etc/fstab names a volume that is not there.",
			next:  "Correct what user data or the image writes to /etc/fstab (nofail), and replace the instance.",
		},
		{
			// The words of ENOSPC, as in github.com/ministryofjustice/cloud-platform, incident of 2023-09-18.
			id: "disk-full", sample: "write /var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db: no space left on device",
			all: [][]string{{"no space left on device"}},
			// inotify watches run out with the same words; the disk is not full then.
			none: []string{"inotify"}, phase: inKubelet, guess: true, late: true,
			title: "a disk is full",
			means: "A volume of the instance is full; images cannot be unpacked and services cannot write.",
			next:  "Give the launch template a larger root volume.",
		},
		{
			// In the form of Linux, mm/oom_kill.c.
			id: "out-of-memory", sample: "[  312.417] Out of memory: Killed process 2134 (kubelet) total-vm:1957168kB, anon-rss:91232kB",
			all:   [][]string{{"out of memory: kill"}, {"(kubelet)", "(containerd)", "(nodeadm)", "(dockerd)"}},
			phase: inKubelet, guess: true, late: true,
			title: "the kernel killed a service for lack of memory",
			means: "The instance has not enough memory for what runs on it, and the kernel ended a service that the node needs.",
			next:  "Use a larger instance type, or reserve memory for the system (kubeReserved, systemReserved).",
		},
	}
}
