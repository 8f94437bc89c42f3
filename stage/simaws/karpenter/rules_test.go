package karpenter

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func TestRequirements(t *testing.T) {
	has := map[string]string{"zone": "a", "cpu": "4", "word": "x"}
	for _, test := range []struct {
		key, operator string
		values        []string
		want          bool
	}{
		{"zone", "In", []string{"b", "a"}, true}, {"zone", "In", []string{"b"}, false}, {"none", "In", []string{""}, false},
		{"zone", "NotIn", []string{"b"}, true}, {"zone", "NotIn", []string{"a"}, false}, {"none", "NotIn", []string{"a"}, true},
		{"zone", "Exists", nil, true}, {"none", "Exists", nil, false}, {"zone", "DoesNotExist", nil, false}, {"none", "DoesNotExist", nil, true},
		{"cpu", "Gt", []string{"3"}, true}, {"cpu", "Gt", []string{"4"}, false}, {"cpu", "Gte", []string{"4"}, true}, {"cpu", "Gte", []string{"5"}, false},
		{"cpu", "Lt", []string{"5"}, true}, {"cpu", "Lt", []string{"4"}, false}, {"cpu", "Lte", []string{"4"}, true}, {"cpu", "Lte", []string{"3"}, false},
		{"cpu", "Gt", nil, false}, {"cpu", "Gt", []string{"1", "2"}, false}, {"word", "Gt", []string{"1"}, false}, {"cpu", "Gt", []string{"x"},
			false}, {"cpu", "Lt", []string{"x"}, false},
		{"zone", "Near", []string{"a"}, false},
	} {
		if got := (requirement{test.key, test.operator, test.values}).admits(has); got != test.want {
			t.Errorf("%s %s %v: %v", test.key, test.operator, test.values, got)
		}
	}
}

func TestSelectors(t *testing.T) {
	tags := map[string]string{"team": "web", "tier": "front"}
	for name, test := range map[string]struct {
		terms []selector
		want  bool
	}{
		"nothing":                    {nil, false},
		"its id":                     {[]selector{{ID: "x-1"}}, true},
		"another id":                 {[]selector{{ID: "x-2"}}, false},
		"another id and its tags":    {[]selector{{ID: "x-2", Tags: map[string]string{"team": "web"}}}, false},
		"one of two terms":           {[]selector{{ID: "x-2"}, {Name: "one"}}, true},
		"another name":               {[]selector{{Name: "two"}}, false},
		"its name and another tag":   {[]selector{{Name: "one", Tags: map[string]string{"team": "ml"}}}, false},
		"both tags":                  {[]selector{{Tags: map[string]string{"team": "web", "tier": "front"}}}, true},
		"one tag of two":             {[]selector{{Tags: map[string]string{"team": "web", "tier": "back"}}}, false},
		"any value":                  {[]selector{{Tags: map[string]string{"team": "*"}}}, true},
		"any value of what is not":   {[]selector{{Tags: map[string]string{"none": "*"}}}, false},
		"no value of what is not":    {[]selector{{Tags: map[string]string{"none": ""}}}, false},
		"an alias, which finds AMIs": {[]selector{{Alias: "al2023@latest"}}, false},
	} {
		if got := chooses(test.terms, "x-1", "one", tags); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestReasons holds Karpenter's words for what EC2 says, each in the order in which it
// looks (KP pkg/errors).
func TestReasons(t *testing.T) {
	for said, want := range map[string]string{
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted: x":                     "SpotSLRCreationFailed",
		"UnauthorizedOperation: with an explicit deny in a permissions boundary":   "Unauthorized: due to a permission boundary",
		"UnauthorizedOperation: with an explicit deny in a service control policy": "Unauthorized: due to a service control policy",
		"UnauthorizedOperation: because no identity-based policy allows it":        "Unauthorized: because no identity-based policy allows it",
		"AccessDenied: x": "Unauthorized", "AuthFailure: Not authorized": "Unauthorized",
		"InvalidParameter: Security group a and subnet b belong to different networks.":      "SecurityGroupSubnetVPCMismatch: must be in the same VPC",
		"InvalidParameter: something else":                                                   "LaunchFailed",
		"x belong to different networks":                                                     "LaunchFailed",
		"InvalidParameterValue: Value (x) for parameter iamInstanceProfile.name is invalid.": "InstanceProfileNameInvalid",
		"InvalidLaunchTemplateId.NotFound: x":                                                "LaunchTemplateNotFound",
		"InvalidUserData.Malformed: User data is limited to 16384 bytes":                     "UserDataSizeLimitExceeded",
		"InvalidAMIID.NotFound: x":                                                           "AMINotFound", "RequestLimitExceeded: x": "RequestLimitExceeded", "InternalError: x": "InternalError",
		"MaxFleetCountExceeded: x": "FleetQuotaExceeded", "PendingVerification: x": "AccountPendingVerification", "MaxSpotInstanceCountExceeded: x": "SpotQuotaExceeded",
		"VcpuLimitExceeded: x": "VCPULimitExceeded", "InsufficientFreeAddressesInSubnet: x": "InsufficientFreeAddressesInSubnet", "The moon: x": "LaunchFailed: Instance launch failed",
	} {
		reason, message := reasonOf(said)
		wanted, part, _ := strings.Cut(want, ": ")
		if reason != wanted || !strings.Contains(message, part) || message == "" {
			t.Errorf("%s: %s, %s", said, reason, message)
		}
	}
}

// A fleet's errors are a shortage only where each of them is one.
func TestFleetFailures(t *testing.T) {
	errs := func(codes ...string) []ec2types.CreateFleetError {
		var list []ec2types.CreateFleetError
		for _, code := range codes {
			list = append(list, ec2types.CreateFleetError{ErrorCode: aws.String(code), ErrorMessage: aws.String("no")})
		}
		return list
	}
	for _, code := range []string{"InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "UnfulfillableCapacity", "Unsupported",
		"InsufficientFreeAddressesInSubnet", "MaxFleetCountExceeded", "ReservationCapacityExceeded", "AuthFailure.ServiceLinkedRoleCreationNotPermitted"} {
		if f := fleetFailure(errs(code, "InsufficientInstanceCapacity")); f.kind != short || !strings.HasPrefix(f.text,
			"creating instance, insufficient capacity, with fleet error(s), "+code+": no") {
			t.Errorf("%s: %+v", code, f)
		}
	}
	if f := fleetFailure(errs("InsufficientInstanceCapacity", "UnauthorizedOperation", "InsufficientInstanceCapacity")); f.kind != refused || f.reason != "Unauthorized" ||
		f.text != "InsufficientInstanceCapacity: no; UnauthorizedOperation: no" {
		t.Errorf("mixed: %+v", f)
	}
}

func TestUntolerated(t *testing.T) {
	pod := func(tolerations ...map[string]any) map[string]any {
		var list []any
		for _, x := range tolerations {
			list = append(list, x)
		}
		return map[string]any{"spec": map[string]any{"tolerations": list}}
	}
	gpu := []taint{{"gpu", "yes", "NoSchedule"}}
	for name, test := range map[string]struct {
		pod    map[string]any
		taints []taint
		want   string
	}{
		"no taint":             {pod(), nil, ""},
		"no toleration":        {pod(), gpu, "gpu=yes:NoSchedule"},
		"only a preference":    {pod(), []taint{{"gpu", "yes", "PreferNoSchedule"}}, ""},
		"equal":                {pod(map[string]any{"key": "gpu", "value": "yes", "effect": "NoSchedule"}), gpu, ""},
		"every effect":         {pod(map[string]any{"key": "gpu", "value": "yes"}), gpu, ""},
		"another effect":       {pod(map[string]any{"key": "gpu", "value": "yes", "effect": "NoExecute"}), gpu, "gpu=yes:NoSchedule"},
		"another value":        {pod(map[string]any{"key": "gpu", "value": "no"}), gpu, "gpu=yes:NoSchedule"},
		"whatever value":       {pod(map[string]any{"key": "gpu", "operator": "Exists"}), gpu, ""},
		"whatever taint":       {pod(map[string]any{"operator": "Exists"}), gpu, ""},
		"another key":          {pod(map[string]any{"key": "cpu", "operator": "Exists"}), gpu, "gpu=yes:NoSchedule"},
		"no key and no Exists": {pod(map[string]any{"value": "yes"}), gpu, "gpu=yes:NoSchedule"},
	} {
		if got := untolerated(test.pod, test.taints); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTextsAreCut(t *testing.T) {
	if got := truncated(strings.Repeat("x", 299)); len(got) != 299 {
		t.Errorf("299 characters became %d", len(got))
	}
	if got := truncated(strings.Repeat("x", 300)); got != strings.Repeat("x", 300)+"..." {
		t.Errorf("300 characters became %d", len(got))
	}
	if got := suffix("00011b3cffaa"); got != "bcbjq" {
		t.Errorf("suffix %q", got)
	}
}
