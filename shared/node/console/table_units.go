package console

import "rollcall/shared/checkid"

// windowsRows are failures of Windows. EC2Launch writes little to the console:
// the EKS bootstrap has its log in C:\ProgramData\Amazon\EKS\logs.
func windowsRows() []row {
	return []row{
		{
			// The words of the Windows event BugCheck (1001).
			id: "windows-stop", sample: "2024/05/14 09:12:44Z: Message: The computer has rebooted from a bugcheck. The bugcheck was: 0x0000007b",
			all: [][]string{{"rebooted from a bugcheck"}}, phase: inKernel, guess: true, late: true,
			title: "Windows stopped with a bug check",
			means: "Windows stopped and started again.",
			next:  "Start an earlier version of the image; replace the instance.",
			check: checkid.InstanceAMI,
		},
		{
			// In the form of PowerShell for user data of another image.
			id: "windows-bootstrap", sample: `UserData: C:\Program Files\Amazon\EKS\Start-EKSBootstrap.ps1 : The term 'Start-EKSBootstrap.ps1' is not recognized as the name of a cmdlet`,
			all: [][]string{{"start-eksbootstrap"}, {"is not recognized", "cannot find path", "cannot bind parameter", "a parameter cannot be found"}}, phase: inUserData,
			title: "the EKS bootstrap of Windows did not run",
			means: "User data calls Start-EKSBootstrap.ps1 wrongly, or the image is not one of EKS.",
			next:  "Start an EKS-optimised Windows image, and correct the call in user data.",
			check: checkid.InstanceUserData,
		},
	}
}

// unitRows are units that failed or did not start: they say that, not why.
func unitRows() []row {
	return []row{
		{
			// github.com/awslabs/amazon-eks-ami/issues/2426
			id: "nodeadm-unit", sample: "FAILED Failed to start nodeadm-co.service - EKS Nodeadm Config.",
			all: [][]string{{"failed to start", "dependency failed for"}, {"nodeadm", "noderun.service"}}, phase: inUserData,
			title: "nodeadm did not get through",
			means: "nodeadm failed, and the kubelet is not started without it. The console does not say why.",
			next:  "Read its log on the instance (journalctl -u nodeadm-config -u nodeadm-run) and the NodeConfig in user data.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/990
			id: "kubelet-unit", sample: "systemd: Dependency failed for Kubernetes Kubelet.",
			all: [][]string{{"failed to start", "dependency failed for", "start request repeated too quickly"}, {"kubelet"}}, phase: inUserData,
			title: "the kubelet was not started",
			means: "What the kubelet needs did not start, and so neither does the kubelet.",
			next:  "Read the lines before it in the console output, and journalctl -u kubelet on the instance.",
		},
	}
}
