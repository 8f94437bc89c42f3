package activity

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/node/messages"
)

// FuzzClassify holds that no text makes the tables fail, that what is shown is
// valid and bounded, and that what is said always has words.
func FuzzClassify(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.Text, s.Source)
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		v := Classify(text)
		if v.Class.Family() != checkid.Launch || v.Meaning == "" || v.Next == "" {
			t.Errorf("Classify(%q) = %+v", text, v)
		}
		if !utf8.ValidString(v.Text) || utf8.RuneCountInString(v.Text) > maxShown {
			t.Errorf("Classify(%q) shows %q", text, v.Text)
		}
		if r := ClassifyReason(other, text); r.Class == "" || r.Meaning == "" || r.Next == "" || r.Class == checkid.LaunchUnclassified {
			t.Errorf("ClassifyReason(%q, %q) = %+v", other, text, r)
		}
		Launching(other, text)
		StatusOf(other, text)
	})
}

func TestLaunching(t *testing.T) {
	tests := []struct {
		description, message string
		want                 bool
	}{
		{"Launching a new EC2 instance: i-0ef3c1b2a4d5968f1", "", true},
		{"Launching a new EC2 instance.  Status Reason: no", "", true},
		{"Placing Spot instance request.", "", true},
		{"Terminating EC2 instance: i-0ef3c1b2a4d5968f1", "There is Launching EC2 instance failed in it", false},
		{"Attaching an existing EC2 instance: i-0ef3c1b2a4d5968f1", "", false},
		{"", "The moon. Launching EC2 instance failed.", true},
		{"", "Placing Spot instance request failed.", true},
		{"", "VcpuLimitExceeded", true},
		{"", "", true},
		{"", "Some other message", false},
	}
	for _, tt := range tests {
		if got := Launching(tt.description, tt.message); got != tt.want {
			t.Errorf("Launching(%q, %q) = %v", tt.description, tt.message, got)
		}
	}
}

func TestStatusOf(t *testing.T) {
	const died = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.InternalError: Client error on launch"
	const abandoned = "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token e85eb647-4fe0-4909-b341-a6c42d8aba1f was abandoned: "
	// Auto Scaling's sentence with EC2's own message of such an instance.
	const takenBack = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Server.SpotInstanceTermination: Spot instance termination"
	tests := []struct {
		code, message string
		want          Status
	}{
		{"Successful", "", Succeeded},
		{"Failed", "", Failed},
		{"Cancelled", "", Canceled},
		{"Cancelled", died, Failed},
		{"Cancelled", abandoned + "Heartbeat Timeout", Failed},
		{"Cancelled", abandoned + "Lifecycle Action Completed with ABANDON Result", Failed},
		{"Cancelled", abandoned + "a reason newer than this program", Failed},
		{"Cancelled", "The moon is in the wrong phase.", Failed}, // a text is never dropped
		{"Cancelled", "Spot instance request: sir-bcpgayih has been cancelled. Group size decreased while waiting for Spot instance request to be fulfilled.", Canceled},
		{"Cancelled", "The desired capacity was lowered to 2.", Canceled},
		{"Cancelled", "Termination Reason: Client.UserInitiatedShutdown: User initiated shutdown", Canceled},
		{"Cancelled", takenBack, TakenBack},
		{"Failed", takenBack, TakenBack}, // as the event "EC2 Instance Launch Unsuccessful" is taken down
		{"Cancelled", "Termination Reason: Server.SpotInstanceTermination", TakenBack},
		{"Cancelled", "Termination Reason: Server.SpotInstanceTermination.", TakenBack},
		{"Cancelled", "Termination Reason: Server.SpotInstanceShutdown: x", TakenBack},
		{"Cancelled", "Termination Reason: Server.SpotInstanceTerminationOfAnotherKind", Failed},
		{"Cancelled", "Termination Reason: Server.InternalError: Internal error on launch", Failed},
		{"Cancelled", "Termination Reason: Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state", Failed},
		{"Cancelled", "Termination Reason:", Failed},
		{"Failed", "Server.SpotInstanceTermination", Failed}, // no instance died
		{"Successful", takenBack, Succeeded},
		{"InProgress", "", Pending},
		{"MidLifecycleAction", "", Pending},
		{"", "", Unknown},
		{"SomethingNew", died, Unknown},
	}
	for _, tt := range tests {
		if got := StatusOf(tt.code, tt.message); got != tt.want {
			t.Errorf("StatusOf(%q, %q) = %s, want %s", tt.code, tt.message, got, tt.want)
		}
	}
}

func TestReason(t *testing.T) {
	tests := [][3]string{
		{"Launching a new EC2 instance.  Status Reason: No room.", "A message.", "A message."},
		{"Launching a new EC2 instance.  Status Reason: No room.", "", "No room."},
		{"Launching a new EC2 instance", " ", ""},
	}
	for _, tt := range tests {
		if got := Reason(tt[0], tt[1]); got != tt[2] {
			t.Errorf("Reason(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestAdministrative(t *testing.T) {
	if Administrative("User suspended at 2016-01-12T22:59:46Z") || !Administrative("Administrative suspension") {
		t.Error("a person's suspension and Auto Scaling's own are not told apart")
	}
}

func TestQuotaOf(t *testing.T) {
	tests := []struct{ instanceType, onDemand, spot string }{
		{"m5.large", "L-1216C47A", "L-34B43A08"},
		{"t4g.micro", "L-1216C47A", "L-34B43A08"},
		{"im4gn.large", "L-1216C47A", "L-34B43A08"},
		{"c7i-flex.large", "L-1216C47A", "L-34B43A08"},
		{"g4dn.xlarge", "L-DB2E81BA", "L-3819A6DF"},
		{"gr6.4xlarge", "L-DB2E81BA", "L-3819A6DF"},
		{"p4d.24xlarge", "L-417A185B", "L-7212CCBC"},
		{"p5.48xlarge", "L-417A185B", "L-C4BD4855"},
		{"p6-b200.48xlarge", "L-417A185B", ""},
		{"x2idn.16xlarge", "L-7295265B", "L-E3A00192"},
		{"f2.6xlarge", "L-74FC7D96", "L-88CF9481"},
		{"inf2.xlarge", "L-1945791B", "L-B5D1601B"},
		{"trn1.2xlarge", "L-2C3B7624", "L-6B0D517C"},
		{"dl1.24xlarge", "L-6E869C2A", "L-85EED4F7"},
		{"hpc7g.16xlarge", "L-F7808C92", ""},
		{"u-6tb1.metal", "L-43DA4232", ""},
		{"u7i-12tb.224xlarge", "L-43DA4232", ""},
		{"qq1.large", "", ""},
		{"p", "L-417A185B", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		for spot, want := range map[bool]string{false: tt.onDemand, true: tt.spot} {
			q, ok := QuotaOf(tt.instanceType, spot)
			if q.Code != want || ok != (want != "") || ok != (q.Name != "") {
				t.Errorf("QuotaOf(%q, %v) = %v, %v, want %q", tt.instanceType, spot, q, ok, want)
			}
		}
	}
}

// sample is a text of the field: where it stands, and the check that it
// points to; empty for texts that tell nothing.
type sample struct {
	Text   string `json:"text"`
	Source string `json:"source"`
	Want   string `json:"want"`
}

func samples(t testing.TB) []sample {
	t.Helper()
	raw, err := os.ReadFile("testdata/samples.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []sample
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 120 {
		t.Fatalf("%d samples: too few to hold anything", len(list))
	}
	return list
}

// A text of a failed launch is the same to Classify.
func TestSamplesOfLaunchesClassify(t *testing.T) {
	for _, s := range samples(t) {
		want := checkid.ID(s.Want)
		if want.Family() != checkid.Launch {
			continue
		}
		if got := Classify(s.Text).Class; got != want {
			t.Errorf("%q is %s, want %s", s.Text, got, want)
		}
	}
}

// Every class that a text can tell has samples in several wordings.
func TestEveryClassHasSamples(t *testing.T) {
	count := map[checkid.ID]int{}
	for _, s := range samples(t) {
		count[checkid.ID(s.Want)]++
	}
	for _, r := range messages.LaunchRows() {
		if least := 3; r.Check != checkid.LaunchUnclassified && r.Check != checkid.LaunchSuspended && count[r.Check] < least {
			t.Errorf("%s has %d samples, want %d", r.Check, count[r.Check], least)
		}
	}
}

// However a text is quoted, wrapped, indented or escaped, it says the same.
func TestFormDoesNotMatter(t *testing.T) {
	forms := map[string]func(string) string{
		"upper case":    strings.ToUpper,
		"wrapped":       func(s string) string { return strings.ReplaceAll(s, " ", "\n  ") },
		"quoted":        func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
		"terraform box": func(s string) string { return "│ " + strings.ReplaceAll(s, "\n", "\n│ ") + "\n╵" },
		"escaped JSON":  func(s string) string { raw, _ := json.Marshal(s); return string(raw) },
		"escaped twice": func(s string) string {
			raw, _ := json.Marshal(s)
			raw, _ = json.Marshal(string(raw))
			return string(raw)
		},
		"curly quotes":   func(s string) string { return strings.ReplaceAll(s, "'", "’") },
		"among noise":    func(s string) string { return strings.Repeat("a line of a log\n", 50) + s + "\nand more" },
		"markdown":       func(s string) string { return "```\n" + s + "\n```" },
		"invalid UTF-8":  func(s string) string { return "\xff\xfe" + s + "\x80" },
		"carriage lines": func(s string) string { return strings.ReplaceAll(s, " ", "\r\n") },
	}
	for name, form := range forms {
		for _, r := range messages.LaunchRows() {
			if name == "upper case" && len(r.First()) == 0 {
				continue // codes are as they are written
			}
			if got := Classify(form(r.Sample)).Class; got != r.Check {
				t.Errorf("%s: %q is %s, want %s", name, form(r.Sample), got, r.Check)
			}
		}
	}
}

// The samples in the tables are matched by their own rows, and have sources.
func TestRowsMatchTheirSamples(t *testing.T) {
	for i, r := range messages.LaunchRows() {
		got, _, ok := find(r.Sample)
		if !ok || got.Sample != r.Sample {
			t.Errorf("row %d (%s): its sample %q is matched by the row of %q", i, r.Check, r.Sample, got.Sample)
		}
		if r.Source == "" {
			t.Errorf("row %d (%s) has no source", i, r.Check)
		}
		for _, phrase := range r.First() {
			if phrase != normal(phrase) {
				t.Errorf("phrase %q is not in the form that texts are brought into: %q", phrase, normal(phrase))
			}
		}
	}
}

// Where two classes fit one text, the table's order decides, and each such
// pair of the field is known.
func TestClaimsOfTwoClassesAreKnown(t *testing.T) {
	known := map[[2]checkid.ID]bool{
		// A fleet that tried several ways is cured by the limit.
		{checkid.LaunchSpotLimit, checkid.LaunchUnsupportedType}: true,
		// "Client.InternalError" comes with "Server.InternalError" as code.
		{checkid.LaunchKMSKey, checkid.LaunchUnclassified}: true,
		// Fleets end with "UnfulfillableCapacity" whatever the reason was.
		{checkid.LaunchProfile, checkid.LaunchInsufficientCapacity}: true, {checkid.LaunchTemplate, checkid.LaunchInsufficientCapacity}: true,
		// Auto Scaling wraps what is wrong with a launch template.
		{checkid.LaunchProfile, checkid.LaunchTemplate}: true, {checkid.LaunchAMI, checkid.LaunchTemplate}: true,
		// A placement group or a host without room answers with a shortage's code.
		{checkid.LaunchPlacement, checkid.LaunchInsufficientCapacity}: true,
		// Fleets say "InvalidFleetConfiguration" of a type that a zone lacks too.
		{checkid.LaunchUnsupportedType, checkid.LaunchTemplate}: true,
		// A refusal has one code, whichever policy it comes from.
		{checkid.LaunchPolicyDenied, checkid.LaunchUnauthorized}: true,
		// EC2's code for an account that enforces IMDSv2.
		{checkid.LaunchIMDSEnforced, checkid.LaunchUnsupportedType}: true,
		// A Marketplace product that is not subscribed to is an opt-in too.
		{checkid.LaunchAMI, checkid.LaunchAccountValidation}: true,
	}
	for _, s := range samples(t) {
		winner := Classify(s.Text).Class
		for _, r := range messages.LaunchRows() {
			byCode := slices.ContainsFunc(r.Codes, func(code string) bool { return coded(s.Text, code) })
			byText := slices.ContainsFunc(r.First(), func(phrase string) bool { return messages.Contains(normal(s.Text), phrase, maxGap) })
			if r.Check != winner && (byCode || byText) && !known[[2]checkid.ID{winner, r.Check}] {
				t.Errorf("%q is %s, and %s claims it too", s.Text, winner, r.Check)
			}
		}
	}
}

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
		Class: checkid.LaunchUnclassified, Meaning: "no check recognizes this error", Next: "Read the quoted text.",
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
		{"Client.InvalidKMSKey.InvalidState", "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state", checkid.LaunchKMSKey, true, "the KMS key of an encrypted volume is disabled, pending deletion or deleted, or its policy denies the launching role"},
		{"Server.InternalError", "Client.InternalError: Client error on launch", checkid.LaunchKMSKey, true, "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume cannot be used"},
		{"Client.InternalError", "", checkid.LaunchKMSKey, true, "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume cannot be used"},
		{"Client.VolumeLimitExceeded", "Volume limit exceeded", checkid.LaunchVolumeLimit, true, "the account's limit for EBS volumes is reached"},
		{"Client.InvalidSnapshot.NotFound", "", checkid.LaunchTemplate, true, "EC2 rejects a volume or the user data of the launch template"},
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
