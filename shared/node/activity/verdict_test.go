package activity

import (
	"rollcall/shared/checkid"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestClassifyNamesResources(t *testing.T) {
	tests := []struct {
		text string
		want Named
	}{
		{"There are not enough free addresses in subnet 'subnet-66d3dd2c' to satisfy the requested number of instances.", Named{Subnet: "subnet-66d3dd2c"}},
		{"We currently do not have sufficient g4dn.8xlarge capacity in the Availability Zone you requested (us-east-1a). You can currently get g4dn.8xlarge capacity by choosing us-east-1b, us-east-1c.", Named{Type: "g4dn.8xlarge", Zone: "us-east-1a"}},
		{"Your requested instance type (u-6tb1.metal) is not supported in your requested Availability Zone (us-gov-west-1b).", Named{Type: "u-6tb1.metal", Zone: "us-gov-west-1b"}},
		{"The image id '[ami-02c7e84c65fcfecee]' does not exist", Named{AMI: "ami-02c7e84c65fcfecee"}},
		{"Security group sg-01048a5f724140078 and subnet subnet-a78bf4fc belong to different networks.", Named{SecurityGroup: "sg-01048a5f724140078", Subnet: "subnet-a78bf4fc"}},
		{"Value (eks-d8c6d9f9) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", Named{Profile: "eks-d8c6d9f9"}},
		{"with template ID lt-019c5be5798f24ca7, does not exist", Named{Template: "lt-019c5be5798f24ca7"}},
		{"Launching a new EC2 instance: i-092623a491680dab4. Status Reason: key arn:aws:kms:us-west-2:111122223333:key/0a1b-2c3d is disabled", Named{Instance: "i-092623a491680dab4", Key: "arn:aws:kms:us-west-2:111122223333:key/0a1b-2c3d"}},
		{"your current vCPU limit of 8 allows", Named{Limit: "8"}},
		{"Volume of size 22GB is smaller than  snapshot 'snap-0b5c5ea11d58e1fec'", Named{Snapshot: "snap-0b5c5ea11d58e1fec"}},
		{"assume role arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling.", Named{Role: "arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"}},
		{"ids that are elided name nothing: subnet-xxxxxxxx, sg-…, ami-", Named{}},
		{"not a type: docs.large, 3.small; not a zone: eu-1a, a-b-1c", Named{}},
		{"Value (with a blank) for parameter iamInstanceProfile.name is invalid", Named{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Classify(tt.text).Named); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestUnknownTextIsShownRaw(t *testing.T) {
	v := Classify("The moon is in the wrong house. Launching EC2 instance failed.")
	want := Verdict{
		Class: checkid.LaunchUnclassified, Meaning: "the text is not known", Next: "Read the text; it is shown as it was given.",
		Text: "The moon is in the wrong house. Launching EC2 instance failed.", NeverRan: true,
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCodesNeedTheirPlace(t *testing.T) {
	tests := map[string]checkid.ID{
		"":                                      checkid.LaunchUnclassified,
		"VcpuLimitExceeded":                     checkid.LaunchVCPULimit,
		"NotVcpuLimitExceeded":                  checkid.LaunchUnclassified,
		"VcpuLimitExceededOften":                checkid.LaunchUnclassified,
		"InvalidAMIID.Malformed":                checkid.LaunchAMI,
		"InvalidAMIIDs.NotFound":                checkid.LaunchUnclassified,
		"Blocked by a policy":                   checkid.LaunchUnclassified,
		"Blocked: your account":                 checkid.LaunchAccountValidation,
		"(Blocked)":                             checkid.LaunchAccountValidation,
		"Error Code: Throttling; Request ID":    checkid.LaunchThrottled,
		"Throttling the pods helped":            checkid.LaunchUnclassified,
		"Unsupported - not here":                checkid.LaunchUnsupportedType,
		"Unsupported region":                    checkid.LaunchUnclassified,
		"InsufficientFreeAddresses: x":          checkid.LaunchSubnetFull,
		"the subnets have enough addresses":     checkid.LaunchUnclassified,
		"Client.InternalErrorOfAnotherKind":     checkid.LaunchUnclassified,
		"does not have enough free cidr blocks": checkid.LaunchUnclassified,
	}
	for text, want := range tests {
		if got := Classify(text).Class; got != want {
			t.Errorf("Classify(%q) = %s, want %s", text, got, want)
		}
	}
}

// A gap is bounded: the two halves of a phrase must be of one sentence.
func TestGapsAreBounded(t *testing.T) {
	near := "The image id " + strings.Repeat("x", 100) + " does not exist"
	far := "The image id is fine. " + strings.Repeat("x", 200) + " The cat does not exist"
	if got := Classify(near).Class; got != checkid.LaunchAMI {
		t.Errorf("near: %s", got)
	}
	if got := Classify(far).Class; got != checkid.LaunchUnclassified {
		t.Errorf("far: %s", got)
	}
}

func TestClean(t *testing.T) {
	tests := map[string]string{
		"a\n  b\tc": "a b c",
		"You are not authorized. Encoded authorization failure message: JUmMphVKvdVLB83-_x9 Launching EC2 instance failed.": "You are not authorized. (encoded message left out) Launching EC2 instance failed.",
		"Encoded authorization failure message:": "(encoded message left out)",
		"\xffbroken\x00":                         "broken",
	}
	for text, want := range tests {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Clean(strings.Repeat("é ", 400)); utf8.RuneCountInString(got) != maxShown || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text has %d runes", utf8.RuneCountInString(got))
	}
}

func TestClassifyReason(t *testing.T) {
	tests := []struct {
		code, message string
		want          checkid.ID
		neverRan      bool
		meaning       string
	}{
		{"Client.InvalidKMSKey.InvalidState", "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state", checkid.LaunchKMSKey, true, "the KMS key of an encrypted volume is disabled, pending deletion, gone, or may not be used"},
		{"Server.InternalError", "Client.InternalError: Client error on launch", checkid.LaunchKMSKey, true, "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume may not be used"},
		{"Client.InternalError", "", checkid.LaunchKMSKey, true, "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume may not be used"},
		{"Client.VolumeLimitExceeded", "Volume limit exceeded", checkid.LaunchVolumeLimit, true, "the account's limit for EBS volumes is reached"},
		{"Client.InvalidSnapshot.NotFound", "", checkid.LaunchTemplate, true, "a volume or the user data of the launch template is not as EC2 takes it"},
		{"Server.InsufficientInstanceCapacity", "", checkid.LaunchInsufficientCapacity, true, "EC2 has no capacity of this type in the zone"},
		{"Server.InternalError", "Server.InternalError: Internal error on launch", endedEarly, true, "a fault inside EC2"},
		{"Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Instance terminated", reclaimed, false, "EC2 took the Spot capacity back"},
		{UserInitiated, "Client.UserInitiatedShutdown: User initiated shutdown", endedEarly, false, "somebody, or its Auto Scaling group, ended it"},
		{UserInitiated, "ended because of: Max spot instance count exceeded", endedEarly, false, "somebody, or its Auto Scaling group, ended it"},
		{"Client.SomethingNew", "", endedEarly, false, "EC2 says Client.SomethingNew"},
		{"Client.InternalErrorOfAnotherKind", "", endedEarly, false, "EC2 says Client.InternalErrorOfAnotherKind"},
		{"", "", endedEarly, false, "EC2 gives no reason"},
	}
	for _, tt := range tests {
		v := ClassifyReason(tt.code, tt.message)
		if v.Class != tt.want || v.NeverRan != tt.neverRan || v.Meaning != tt.meaning || v.Next == "" {
			t.Errorf("ClassifyReason(%q, %q) = %+v, want %s, %v, %q", tt.code, tt.message, v, tt.want, tt.neverRan, tt.meaning)
		}
	}
}
