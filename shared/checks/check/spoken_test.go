package check

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

func TestSpoken(t *testing.T) {
	for code, want := range map[string]string{
		"Ec2SubnetNotFound":              "EC2 subnet not found",
		"PodEvictionFailure":             "pod eviction failure",
		"AsgInstanceLaunchFailures":      "ASG instance launch failures",
		"Ec2SubnetMissingIpv6Assignment": "EC2 subnet missing IPv6 assignment",
		"VpcIdNotFound":                  "VPC ID not found",
		"K8sResourceNotFound":            "Kubernetes resource not found",
		"InvalidKMSKeyState":             "invalid KMS key state",
		"AccessDenied":                   "access denied",
		"VersionUpdate":                  "version update",
		"AutoScalingGroupNotFound":       "ASG not found",
		"Gremlins":                       "gremlins",
		"no code":                        "no code",
		"":                               "",
	} {
		expect.Equal(t, fmt.Sprintf("spoken(%q)", code), Spoken(code), want)
	}
}

func FuzzSpoken(f *testing.F) {
	for _, seed := range []string{"Ec2SubnetNotFound", "KMSKey", "a-b", "ÄÖ", "A"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		got := strings.ReplaceAll(strings.ReplaceAll(Spoken(code), "ASG", "AutoScalingGroup"), "Kubernetes", "K8s")
		said := strings.ReplaceAll(strings.ReplaceAll(code, "ASG", "AutoScalingGroup"), "Kubernetes", "K8s")
		if !strings.EqualFold(strings.ReplaceAll(got, " ", ""), strings.ReplaceAll(said, " ", "")) && !strings.Contains(strings.ToLower(code), "asg") {
			t.Errorf("spoken(%q) = %q, which is another word", code, got)
		}
	})
}
