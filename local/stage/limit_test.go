package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/testfull"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
)

// perHour is the limit of the test.
const perHour = 3

// TestTheLimitIsWaitedFor: more instances are stuck than the three that may be replaced in
// an hour. All of them are in the end, by policy, and no hour has more.
func TestTheLimitIsWaitedFor(t *testing.T) { virtual(t, theLimitIsWaitedFor) }

func theLimitIsWaitedFor(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.Settings = map[string]string{
			string(config.SlackActions): "on", string(config.Remedies): "eks-workshop/replace-instance=auto", string(config.RemedyLimit): "3",
		}
	})
	n := testfull.Of(7, 4) // four wait for one hour, seven for two
	r.scale(int32(n), int32(n))
	r.until("the missed roll call", r.says(fmt.Sprint(n)+" instances cannot join"))
	stuck := r.alive()
	if len(stuck) != n {
		t.Fatalf("stuck are %q", stuck)
	}
	r.pass(32 * time.Minute) // the launch hook's time is over: they are in service
	if _, err := ec2.NewFromConfig(r.AsAdmin()).CreateRoute(context.Background(), &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat),
	}); err != nil {
		t.Fatal(err)
	}
	r.until("the first three", func() bool { return len(r.runs()) == 1 && r.runs()[0].Result == action.Done })
	r.until("that the rest waits is said", r.replied("Waiting: the rest waits for the hourly limit. Next try "))
	r.until("a node has joined", func() bool { return len(r.incident().Joins) > 0 || r.incident().Proof != nil })
	r.pass(12 * time.Minute)
	if i := r.incident(); i.State != incident.Cleared || !i.Replacing() {
		t.Errorf("while some wait the incident is %s", i.State)
	}
	r.until("all are replaced", func() bool {
		now := r.alive()
		return !slices.ContainsFunc(stuck, func(id string) bool { return slices.Contains(now, id) })
	})
	r.until("the end", func() bool { return r.incident().State == incident.Closed })
	if i := r.incident(); i.Resolution != incident.Proved {
		t.Errorf("it ended as %s", i.Resolution)
	}
	r.withinTheLimit(stuck)
	r.nothingLost()
}

// withinTheLimit holds the runs against the limit: each instance once, never
// more than so many in any hour.
func (r *running) withinTheLimit(stuck []string) {
	r.t.Helper()
	var ended []string
	var at []time.Time
	list := r.runs()
	slices.SortFunc(list, func(a, b remedy.Run) int { return a.Began.Compare(b.Began) })
	for _, d := range list {
		if d.Result != action.Done || d.Policy != optin.Auto {
			r.t.Errorf("run %+v", d)
		}
		for _, id := range d.Changed {
			ended, at = append(ended, id), append(at, d.Ended)
		}
		if n := len(at); n > perHour {
			if apart := d.Began.Sub(at[n-1-perHour]); apart < time.Hour {
				r.t.Errorf("%d were ended within %s", perHour+1, apart)
			}
		}
	}
	slices.Sort(ended)
	if !slices.Equal(ended, stuck) {
		r.t.Errorf("ended were %q, stuck %q", ended, stuck)
	}
	calls := 0
	for _, c := range r.wrote() {
		if strings.HasPrefix(c, "autoscaling:TerminateInstanceInAutoScalingGroup") {
			calls++
		}
	}
	if calls != len(stuck) {
		r.t.Errorf("%d calls end instances, want %d", calls, len(stuck))
	}
}

// alive are the instances that run, in order.
func (r *running) alive() (ids []string) {
	r.t.Helper()
	out, err := ec2.NewFromConfig(r.AsAdmin()).DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{
		Filters: []ec2types.Filter{
			{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
			{Name: aws.String("subnet-id"), Values: []string{"subnet-0c30000000000000d"}},
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range out.Reservations {
		for _, i := range x.Instances {
			ids = append(ids, aws.ToString(i.InstanceId))
		}
	}
	slices.Sort(ids)
	return ids
}
