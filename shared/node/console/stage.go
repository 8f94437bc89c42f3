package console

import "strings"

// stageOf is the stage that a line, in lower case, tells of; Silent for none.
func stageOf(line string) Stage {
	switch {
	case strings.Contains(line, "successfully registered node"):
		return Registered
	case containsAny(line, "failed to start", "dependency failed"):
		return Silent
	case containsAny(line, "kubelet[", "started kubelet", "started kubernetes kubelet", "starting kubelet", "started kubelet.service"):
		return Kubelet
	case containsAny(line, "nodeadm", "imds://user-data", "bootstrap.sh", "[eks-bootstrap]", "pluto", "sundog", "eksbootstrap", "modules:final"):
		return Bootstrap
	case containsAny(line, "reached target", "cloud-init v.", "systemd[1]: started", "[  ok  ]", "windows is ready to use"):
		return System
	}
	return Silent
}

// isBoot tells a kernel's first line: another start begins.
func isBoot(line string) bool {
	return strings.Contains(line, "linux version ") && !strings.Contains(line, "release notes")
}

// isConfigured tells that nodeadm or Bottlerocket's settings got through.
func isConfigured(line string) bool {
	return containsAny(line, "finished nodeadm-config", "finished eks nodeadm", "finished nodeadm-run", "finished user-specified setting generators") ||
		strings.Contains(line, "finished") && strings.Contains(line, "eks nodeadm")
}

// isRuntimeUp tells that containerd runs and its sandbox image is there.
func isRuntimeUp(line string) bool {
	return containsAny(line, "started containerd", "finished pull sandbox image", "started pull sandbox image", "pulled sandbox image") ||
		stageOf(line) == Kubelet && !strings.Contains(line, "kubelet[")
}
