package stage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/fakeslack"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/testfull"
	"rollcall/shared/checkid"
	"rollcall/shared/config"
	"rollcall/shared/incident"
)

// karpenterMessages are the messages of the Karpenter story that are kept, in its
// order.
var karpenterMessages = []string{"story-karpenter-policy", "story-karpenter-subnets", "story-karpenter-route"}

// costCenter is the organisation's policy: nothing is started without a tag.
const costCenter = `{"Version":"2012-10-17","Statement":[{"Sid":"RequireCostCenter","Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"Null":{"aws:RequestTag/cost-center":"true"}}}]}`

// withKarpenter starts the Karpenter story's world, whose operator has applied the
// ClusterRole.
func withKarpenter(t *testing.T, change ...func(*worldfile.File)) *running {
	t.Helper()
	return start(t, "karpenter", func(o *Options) {
		o.Rights, o.Settings = "../../deploy/clusterrole.yaml", map[string]string{string(config.DecodeDenied): "on"}
		o.Change = func(f *worldfile.File) {
			for _, c := range change {
				c(f)
			}
		}
	})
}

// waits brings a pod that wants the nodes of a NodePool.
func (r *running) waits(name, pool string) {
	r.t.Helper()
	if err := r.World.Apply("eks-workshop", worldfile.SetFile{Namespace: "etl", Name: name, NodeSelector: map[string]string{"karpenter.sh/nodepool": pool}}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) forbid() {
	r.World.AttachControlPolicies(worldfile.ControlPolicy{Name: "RequireCostCenter", Document: costCenter})
}

func (r *running) patchClass(name string, spec map[string]any) {
	r.t.Helper()
	if err := r.World.Patch("eks-workshop", "ec2nodeclasses", "", name, map[string]any{"spec": spec}); err != nil {
		r.t.Fatal(err)
	}
}

// message is the channel's message in which all of some texts are.
func (r *running) message(texts ...string) (fakeslack.Message, bool) {
	for _, m := range r.messages() {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(whole(m), text) }) {
			return m, true
		}
	}
	return fakeslack.Message{}, false
}

// told waits for the message, and for what is looked up of it.
func (r *running) told(texts ...string) fakeslack.Message {
	r.t.Helper()
	r.until(strings.Join(texts, ", "), func() bool { _, ok := r.message(texts...); return ok })
	m, _ := r.message(texts...)
	return m
}

// over waits until a message says that it is over.
func (r *running) over(m fakeslack.Message) {
	r.t.Helper()
	r.until("it is over: "+m.Text, func() bool {
		return slices.ContainsFunc(r.messages(), func(now fakeslack.Message) bool { return now.TS == m.TS && strings.Contains(whole(now), "✅") })
	})
}

// TestKarpenterStory is the story of make demo STORY=karpenter: three causes, each
// told in the words that are kept, mended as people do, and over by itself.
func TestKarpenterStory(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := withKarpenter(t)
		cloud := ec2.NewFromConfig(r.AsAdmin())
		keep := func(name string, m fakeslack.Message) {
			goldenMessage(t, name+".golden.json", sent(t, m))
			goldenMessage(t, name+".txt", []byte(aloud(t, m)))
		}
		r.pass(30*time.Second + 500*time.Millisecond) // the same second, whichever the world has come to
		r.forbid()
		r.waits("frontend", "web")
		policy := r.told("NodePool web cannot launch", "a service control policy forbids it", "Also checked", "RequireCostCenter", "cost-center")
		keep(karpenterMessages[0], policy)
		r.patchClass("default", map[string]any{"tags": map[string]any{"cost-center": "4711"}})
		r.over(policy)

		r.waits("nightly", "batch")
		subnets := r.told("EC2NodeClass batch finds no subnet", "etl/nightly-0 waits for it", "karpenter.sh/discovery=eks-workshop-batch")
		keep(karpenterMessages[1], subnets)
		if _, err := cloud.CreateTags(t.Context(), &ec2.CreateTagsInput{
			Resources: []string{"subnet-0c30000000000000d"}, Tags: []ec2types.Tag{{Key: aws.String("karpenter.sh/discovery"), Value: aws.String("eks-workshop-batch")}},
		}); err != nil {
			t.Fatal(err)
		}
		r.over(subnets)

		route := r.told("subnet-0c30000000000000d has no route to the internet", "rtb-0cd20000000000002", "Also checked", "Changed")
		keep(karpenterMessages[2], route)
		if _, err := cloud.CreateRoute(t.Context(), &ec2.CreateRouteInput{
			RouteTableId: aws.String("rtb-0cd20000000000002"), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String("nat-0aa40000000000001"),
		}); err != nil {
			t.Fatal(err)
		}
		r.over(route)
		if n := len(r.messages()); n != len(karpenterMessages) {
			t.Errorf("%d messages, want %d", n, len(karpenterMessages))
		}
		for _, inc := range r.incidents() {
			if inc.State != incident.Closed {
				t.Errorf("%s is %s", inc.Key, inc.State)
			}
		}
	})
}

// TestKarpenterKeepsItsPeace: what passes by itself while Karpenter works as it is
// meant to is nobody's incident. For two minutes there is no capacity; some of a
// fleet's offers fail; the dry runs of a role that may launch come every half hour;
// and a NodeClaim goes because its pods do.
func TestKarpenterKeepsItsPeace(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := withKarpenter(t, func(f *worldfile.File) {
			f.Kubernetes["eks-workshop"].NodePools[1]["spec"] = f.Kubernetes["eks-workshop"].NodePools[0]["spec"] // no class without subnets
			f.Spot.Pools = append(f.Spot.Pools,
				worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0), For: 3 * time.Minute},
				worldfile.PoolFile{Type: "m5.large", OnDemand: true, Capacity: aws.Int(2)})
		})
		for i := range 4 {
			r.waits(fmt.Sprintf("job%d", i), "web")
			r.pass(20 * time.Minute)
		}
		if m := r.messages(); len(m) > 0 {
			t.Errorf("the channel says %s", whole(m[0]))
		}
		counts := map[string]int{}
		for _, p := range r.Events() {
			var e struct {
				Detail struct{ EventName, ErrorCode string } `json:"detail"`
			}
			if err := json.Unmarshal(p.Event, &e); err != nil {
				t.Fatal(err)
			}
			counts[e.Detail.EventName+" "+e.Detail.ErrorCode]++
		}
		for _, want := range []string{"CreateFleet ", "CreateFleet Client.DryRunOperation", "RunInstances Client.DryRunOperation",
			"RunInstances Server.InsufficientInstanceCapacity"} {
			if counts[want] == 0 {
				t.Errorf("no event %q: %v", want, counts)
			}
		}
	})
}

// TestRefusalsByKarpenter: what keeps a NodePool from launching is named, whether EC2
// says so of the fleet or in its answer; one incident for the NodePool, whatever many
// calls are made.
func TestRefusalsByKarpenter(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*worldfile.File)
		act    func(r *running)
		check  checkid.ID
		says   []string
		// often are refusals that another of these is like.
		often bool
	}{
		"the fleet itself is forbidden": {
			act: func(r *running) {
				r.World.AttachControlPolicies(worldfile.ControlPolicy{Name: "x", Document: `{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`})
			}, check: checkid.LaunchPolicyDenied, says: []string{"NodePool web cannot launch", "a service control policy forbids it", "ec2:CreateFleet"},
			often: true,
		},
		"the role of the nodes may not be passed": {
			change: func(f *worldfile.File) {}, act: func(r *running) {
				r.World.AttachControlPolicies(worldfile.ControlPolicy{Name: "x", Document: `{"Statement":[{"Effect":"Deny","Action":"iam:PassRole","Resource":"*"}]}`})
			}, check: checkid.LaunchPolicyDenied, says: []string{"NodePool web cannot launch", "iam:PassRole"},
		},
		"a shortage that stays": {
			change: func(f *worldfile.File) {
				f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{OnDemand: true, Capacity: aws.Int(0)})
			}, act: func(r *running) {}, check: checkid.LaunchInsufficientCapacity, says: []string{"NodePool web cannot launch", "EC2 has no capacity", "us-west-2a"},
			often: true, // TestBurst's too
		},
		"the dry runs are refused": {
			change: func(f *worldfile.File) {
				f.Organizations.ServiceControlPolicies = []worldfile.ControlPolicy{{Name: "x",
					Document: `{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`}}
			}, act: func(r *running) {}, check: checkid.KarpenterNodeclassNotReady, says: []string{"2 NodePools get no nodes: EC2NodeClass default may not create fleets", "etl/frontend-0"},
		},
	} {
		if test.often && !testfull.Asked() {
			continue
		}
		t.Run(name, inTime(func(t *testing.T) {
			r := withKarpenter(t, func(f *worldfile.File) {
				f.Kubernetes["eks-workshop"].NodePools[1]["spec"] = f.Kubernetes["eks-workshop"].NodePools[0]["spec"]
				if test.change != nil {
					test.change(f)
				}
			})
			r.pass(30 * time.Second)
			test.act(r)
			r.waits("frontend", "web")
			r.told(test.says...)
			r.pass(30 * time.Minute)
			if n := len(r.messages()); n != 1 {
				t.Errorf("%d messages: %v", n, r.messages())
			}
			for _, inc := range r.incidents() {
				if inc.Key.Check != test.check {
					t.Errorf("an incident of %s", inc.Key.Check)
				}
			}
		}))
	}
}
