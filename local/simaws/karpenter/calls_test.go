package karpenter_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/cloudtrail"
	"rollcall/local/simaws/worldfile"
)

// What is refused stays as Launched=Unknown with a reason for five minutes and has no
// event; each try is a call, at twice the distance of the last; then the NodeClaim
// goes, and another one comes.
func TestRefusalStaysFiveMinutes(t *testing.T) {
	s := start(t, atOnce)
	s.forbid()
	began := s.Now()
	s.pods("web")
	s.pass(4*time.Minute + 50*time.Second)
	c := s.one("nodeclaims", "")
	if got := c.says("Launched"); got != "Unknown Unauthorized: User is not authorized to perform this operation due to a service control policy" {
		t.Errorf("it says %s", got)
	}
	if got := s.events("NodeClaim"); len(got) > 0 {
		t.Errorf("events %q", got)
	}
	if diff := cmp.Diff([]float64{1, 2, 4, 8, 16, 32, 64, 124, 184, 244}, s.calls("CreateFleet", began, false)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := s.one("ec2nodeclasses", "default").says("Ready"); got != "True Ready" {
		t.Errorf("the class, whose dry runs were before: %s", got)
	}
	s.pass(30 * time.Second)
	next := s.one("nodeclaims", "")
	if next.Metadata.Name == c.Metadata.Name || next.Metadata.Name == "" || len(s.list("nodeclaims")) != 1 {
		t.Errorf("after five minutes: %+v", next)
	}
	s.pass(5 * time.Minute)
	if got := s.one("nodepools", "web").says("NodeRegistrationHealthy"); got != "False Unauthorized: User is not authorized to perform this operation due to a service control policy" {
		t.Errorf("the NodePool says %s", got)
	}
	// The tag that the policy wants.
	if err := s.Patch(cluster, "ec2nodeclasses", "", "default", map[string]any{"spec": map[string]any{"tags": map[string]any{"cost-center": "4711"}}}); err != nil {
		t.Fatal(err)
	}
	s.pass(3 * time.Minute)
	if got := s.one("nodeclaims", "").says("Ready"); got != "True Ready" {
		t.Errorf("with the tag: %s", got)
	}
}

// A shortage is one event, and the NodeClaim is gone at once: no call for three
// minutes.
func TestShortageIsAnEvent(t *testing.T) {
	s := start(t, atOnce, func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0), For: 6 * time.Minute})
	})
	began := s.Now()
	s.pods("web")
	s.pass(30 * time.Second)
	if n := len(s.list("nodeclaims")); n > 0 {
		t.Errorf("%d NodeClaims", n)
	}
	got := s.events("NodeClaim")
	if len(got) != 1 || !strings.HasPrefix(got[0], "InsufficientCapacityError: NodeClaim web-") ||
		!strings.Contains(got[0], "event: creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient") || !strings.HasSuffix(got[0], "...") {
		t.Errorf("events %q", got)
	}
	if said := strings.TrimSuffix(got[0][strings.Index(got[0], "creating"):], "..."); len(said) != 300 {
		t.Errorf("the event has %d characters of the error", len(said))
	}
	s.pass(2 * time.Minute)
	if at := s.calls("CreateFleet", began, false); len(at) != 1 {
		t.Errorf("calls at %v", at)
	}
	if got := s.events("Pod"); !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, "FailedScheduling: Failed to schedule pod, incompatible with nodepool \"web\", no instance type")
	}) {
		t.Errorf("what the pod was told: %q", got)
	}
	s.pass(5 * time.Minute)
	if at := s.calls("CreateFleet", began, false); len(at) != 3 || at[1] < 180 || at[1] > 195 {
		t.Errorf("calls at %v", at)
	}
	if got := s.one("nodeclaims", "").says("Ready"); got != "True Ready" {
		t.Errorf("with capacity: %s", got)
	}
}

// A class's own user data is part of its template's, which may not be too long: the class
// says so. On demand there is a quota of its own.
func TestUserDataOfTheClass(t *testing.T) {
	own := func(text string) func(*worldfile.File) {
		return func(f *worldfile.File) {
			for cluster := range f.Kubernetes {
				for _, o := range f.Kubernetes[cluster].EC2NodeClasses {
					o["spec"].(map[string]any)["userData"] = text
				}
			}
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("# much to do\n", 1300): "False UserDataSizeLimitExceeded: User data is limited to 16384 bytes",
		"echo hello":                           "True ValidationSucceeded",
	} {
		s := start(t, atOnce, own(text))
		if got := s.one("ec2nodeclasses", "default").says("ValidationSucceeded"); got != want {
			t.Errorf("%.10s: it says %s, want %s", text, got, want)
		}
	}
	s := start(t, atOnce, own("echo hello"))
	out, err := s.EC2().DescribeLaunchTemplateVersions(&ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, v := range out.LaunchTemplateVersions {
		text, err := base64.StdEncoding.DecodeString(aws.ToString(v.LaunchTemplateData.UserData))
		first, rest, two := strings.Cut(string(text), "--//\nContent-Type: text/x-shellscript\n\necho hello\n\n--//\n")
		found = found || err == nil && two && strings.HasPrefix(first, "MIME-Version: 1.0\n") && strings.Contains(rest, "kind: NodeConfig")
	}
	if !found {
		t.Error("no template has both parts")
	}
}

// What the dry runs say is believed for half an hour, the bad as the good.
func TestDryRunsAreBelieved(t *testing.T) {
	denied := worldfile.ControlPolicy{Name: "fleets", Document: `{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`}
	s := start(t, atOnce, func(f *worldfile.File) { f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{denied} })
	want := "False CreateFleetAuthCheckFailed: Controller isn't authorized to call ec2:CreateFleet: User is not authorized to perform this operation due to a service control policy"
	if got := s.one("ec2nodeclasses", "default").says("ValidationSucceeded"); got != want {
		t.Errorf("it says %s", got)
	}
	if at := s.calls("CreateFleet", s.Start(), true); len(at) != 1 {
		t.Errorf("dry runs at %v", at)
	}
	s.AttachControlPolicies()
	s.pass(25 * time.Minute)
	if got := s.one("ec2nodeclasses", "default").says("ValidationSucceeded"); got != want {
		t.Errorf("minutes after the policy is gone it says %s", got)
	}
	s.pass(6 * time.Minute)
	if got := s.one("ec2nodeclasses", "default").says("Ready"); got != "True Ready" {
		t.Errorf("half an hour later: %s", got)
	}
	for role, want := range map[string]string{
		"ec2:RunInstances":         "False RunInstancesAuthCheckFailed: Controller isn't authorized to call ec2:RunInstances: User is not authorized to perform this operation due to a service control policy",
		"ec2:CreateLaunchTemplate": "False CreateLaunchTemplateAuthCheckFailed: Controller isn't authorized to call ec2:CreateLaunchTemplate: User is not authorized to perform this operation due to a service control policy",
	} {
		s := start(t, func(f *worldfile.File) {
			f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{{Name: "x", Document: `{"Statement":[{"Effect":"Deny","Action":"` + role + `","Resource":"*"}]}`}}
		})
		if got := s.one("ec2nodeclasses", "default").says("ValidationSucceeded"); got != want {
			t.Errorf("%s: it says %s", role, got)
		}
	}
}

// NodeClaims that ask for the same at the same time are one call; what it does not
// bring is a shortage for the others.
func TestOneCallForMany(t *testing.T) {
	s := start(t, atOnce, func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{Type: "m5.large", Zone: "us-west-2b", OnDemand: true, Capacity: aws.Int(2)},
			worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0)})
	})
	began := s.Now()
	s.pods("web")
	s.pods("web", "karpenter.sh/nodepool=web")
	s.pods("web", "karpenter.sh/nodepool=web", "kubernetes.io/os=linux")
	s.pass(20 * time.Second)
	if at := s.calls("CreateFleet", began, false); len(at) != 1 {
		t.Errorf("calls at %v", at)
	}
	var launched int
	for _, c := range s.list("nodeclaims") {
		if c.says("Launched") == "True Launched" {
			launched++
		}
	}
	if events := s.events("NodeClaim"); launched != 1 || len(events) != 2 {
		t.Errorf("%d launched; events %q", launched, events)
	}
}

// The calls are the controller's: its role's session, vouched for by the cluster's OIDC
// provider, with Karpenter's user agent, and tags as Karpenter sets them.
func TestWhoCalls(t *testing.T) {
	s := start(t, atOnce)
	s.pods("web")
	s.pass(2 * time.Minute)
	for _, name := range []string{"CreateFleet", "CreateLaunchTemplate", "CreateTags", "RunInstances"} {
		out, err := s.CloudTrail().LookupEvents(&cloudtrail.LookupEventsInput{LookupAttributes: []cloudtrail.LookupAttribute{{AttributeKey: "EventName", AttributeValue: name}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Events) == 0 {
			t.Errorf("no %s", name)
		}
		for _, e := range out.Events {
			var r struct {
				UserAgent    string
				UserIdentity struct {
					ARN            string
					InvokedBy      string
					SessionContext struct {
						WebIDFederationData struct{ FederatedProvider string } `json:"webIdFederationData"`
					}
				}
			}
			if err := json.Unmarshal([]byte(e.CloudTrailEvent), &r); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(r.UserIdentity.ARN, "/ci-deploy") {
				continue // of before the start
			}
			if !strings.HasPrefix(r.UserIdentity.ARN, "arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-eks-workshop/17") {
				t.Errorf("%s by %s", name, r.UserIdentity.ARN)
			}
			if r.UserIdentity.InvokedBy != "" {
				continue // the fleet's own
			}
			if p := r.UserIdentity.SessionContext.WebIDFederationData.FederatedProvider; !strings.HasPrefix(p,
				"arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/") || !strings.Contains(r.UserAgent, "karpenter.sh-1.14.1 ") {
				t.Errorf("%s by %s with %s", name, p, r.UserAgent)
			}
		}
	}
}
