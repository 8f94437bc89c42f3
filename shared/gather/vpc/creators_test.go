package vpc

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// told answers DescribeInstances call by call.
type told struct {
	pages []any // *ec2.DescribeInstancesOutput or error
	asked [][]string
}

func (a *told) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	a.asked = append(a.asked, in.Filters[0].Values)
	if len(a.asked) > len(a.pages) {
		return &ec2.DescribeInstancesOutput{}, nil
	}
	if err, failed := a.pages[len(a.asked)-1].(error); failed {
		return nil, err
	}
	return a.pages[len(a.asked)-1].(*ec2.DescribeInstancesOutput), nil
}

func page(next string, instances ...types.Instance) *ec2.DescribeInstancesOutput {
	out := &ec2.DescribeInstancesOutput{}
	if len(instances) > 0 {
		out.Reservations = []types.Reservation{{Instances: instances}}
	}
	if next != "" {
		out.NextToken = new(next)
	}
	return out
}

func running(id string) types.Instance {
	return types.Instance{InstanceId: new(id), State: &types.InstanceState{Name: types.InstanceStateNameRunning}}
}

const owner = "i-0123456789abcdef0"

// An answer that is not whole never says that EC2 does not know an instance:
// an interface of a node that lives would be deleted for it.
func TestCreatorsAreWholeOrNone(t *testing.T) {
	denied := &wire.Error{Code: "UnauthorizedOperation", Status: 403, Message: "no"}
	throttled := &wire.Error{Code: "RequestLimitExceeded", Status: 503, Message: "slow"}
	tests := map[string]struct {
		pages []any
		fails bool
		state string
	}{
		"running":                        {[]any{page("", running(owner))}, false, "running"},
		"not known to EC2":               {[]any{page("")}, false, ""},
		"denied":                         {[]any{denied}, true, ""},
		"throttled":                      {[]any{throttled}, true, ""},
		"the second page is lost":        {[]any{page("2"), throttled}, true, ""},
		"an empty page, then the answer": {[]any{page("2"), page("3"), page("", running(owner))}, false, "running"},
		"a page that leads to itself":    {[]any{page("2"), page("2"), page("2")}, true, ""},
		"the third page is lost":         {[]any{page("2"), page("3"), throttled}, true, ""},
		"the whole batch is refused":     {[]any{&wire.Error{Code: "InvalidInstanceID.NotFound", Status: 400, Message: "i-1"}}, true, ""},
		"reset":                          {[]any{errors.New("connection reset by peer")}, true, ""},
		"timed out":                      {[]any{context.DeadlineExceeded}, true, ""},
		"a page of nobody's instances":   {[]any{page("2", running("i-0ffffffffffffffff")), throttled}, true, ""},
		"without a state":                {[]any{page("", types.Instance{InstanceId: new(owner)})}, true, ""},
		"with an empty state":            {[]any{page("", types.Instance{InstanceId: new(owner), State: &types.InstanceState{}})}, true, ""},
		"without an id":                  {[]any{page("", types.Instance{State: &types.InstanceState{Name: types.InstanceStateNameTerminated}})}, true, ""},
		"another instance":               {[]any{page("", running("i-0ffffffffffffffff"))}, false, ""},
		"a state to come":                {[]any{page("", types.Instance{InstanceId: new(owner), State: &types.InstanceState{Name: "hibernated"}})}, false, "hibernated"},
	}
	for name, test := range tests {
		s := &snapshot.Snapshot{
			Read: map[snapshot.Source]bool{snapshot.Unattached: true},
			Idle: []snapshot.Interface{{ID: "eni-1", Description: "aws-K8S-" + owner}},
		}
		keep, err := creators(&told{pages: test.pages}, NewTally(nil, nil)).ReadFrom(t.Context(), source.View{Snapshot: s})
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if err == nil {
			keep(s)
			gathertest.Same(t, name, s.Creators, []snapshot.Creator{{Instance: owner, State: test.state}})
		}
	}
}

// Without the interfaces there is nobody to ask for, and none is dead.
func TestCreatorsOfUnreadInterfaces(t *testing.T) {
	if _, err := creators(&told{}, NewTally(nil, nil)).ReadFrom(t.Context(), source.View{Snapshot: &snapshot.Snapshot{}}); err == nil {
		t.Error("no error although the interfaces were not read")
	}
}

// 200 ids a call, each asked once.
func TestCreatorsInBatches(t *testing.T) {
	a := &told{}
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Unattached: true}}
	for i := range 1002 {
		id := fmt.Sprintf("i-%017x", i/2)
		s.Idle = append(s.Idle, snapshot.Interface{Description: "aws-K8S-" + id, Tags: map[string]string{leak.TagInstance: id}})
	}
	keep, err := creators(a, NewTally(nil, nil)).ReadFrom(t.Context(), source.View{Snapshot: s})
	if err != nil {
		t.Fatal(err)
	}
	keep(s)
	var sizes []int
	for _, ids := range a.asked {
		sizes = append(sizes, len(ids))
	}
	gathertest.Same(t, "ids by call", sizes, []int{200, 200, 101})
	gathertest.Same(t, "creators", len(s.Creators), 501)
}

// attachedTo describes a VPC in which instances have an interface each, and
// the owner has left one behind.
type attachedTo []types.NetworkInterface

func (a attachedTo) DescribeNetworkInterfaces(context.Context, *ec2.DescribeNetworkInterfacesInput, ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: a}, nil
}

func on(instance, account string) types.NetworkInterface {
	return types.NetworkInterface{
		NetworkInterfaceId: new("eni-2"), OwnerId: new(account), Status: types.NetworkInterfaceStatusInUse,
		Attachment: &types.NetworkInterfaceAttachment{InstanceId: new(instance)},
	}
}

// Whoever has an interface attached lives, whatever EC2 says of the instance;
// and an answer that does not know it is no answer.
func TestCreatorsThatHaveInterfaces(t *testing.T) {
	const account = "111122223333"
	idle := types.NetworkInterface{NetworkInterfaceId: new("eni-1"), OwnerId: new(account), Status: types.NetworkInterfaceStatusAvailable, Description: new("aws-K8S-" + owner)}
	ended := types.Instance{InstanceId: new(owner), State: &types.InstanceState{Name: types.InstanceStateNameTerminated}}
	tests := map[string]struct {
		others []types.NetworkInterface
		page   any
		fails  bool
		want   snapshot.Creator
	}{
		"nothing for anybody":                {[]types.NetworkInterface{on(owner, account)}, page(""), true, snapshot.Creator{}},
		"another account's machine":          {[]types.NetworkInterface{on(owner, "999988887777")}, page(""), false, snapshot.Creator{Instance: owner}},
		"terminated, and its interface seen": {[]types.NetworkInterface{on(owner, account)}, page("", ended), false, snapshot.Creator{Instance: owner, State: "terminated", Attached: true}},
		"somebody else's interface":          {[]types.NetworkInterface{on("i-0ffffffffffffffff", account)}, page("", ended), false, snapshot.Creator{Instance: owner, State: "terminated"}},
		"an attachment to nothing":           {[]types.NetworkInterface{on("", account)}, page(""), false, snapshot.Creator{Instance: owner}},
	}
	for name, test := range tests {
		counted := NewTally(attachedTo(append(test.others, idle)), nil)
		v := source.View{VPCs: []string{"vpc-1"}, Snapshot: &snapshot.Snapshot{
			Account: account, Idle: []snapshot.Interface{networkInterface(idle)},
			Read: map[snapshot.Source]bool{snapshot.Unattached: true, snapshot.Subnets: true, snapshot.CIDRsKept: true, snapshot.Usage: true},
		}}
		if _, err := usage(nil, counted).ReadFrom(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		keep, err := creators(&told{pages: []any{test.page}}, counted).ReadFrom(t.Context(), v)
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if err == nil {
			keep(v.Snapshot)
			gathertest.Same(t, name, v.Snapshot.Creators, []snapshot.Creator{test.want})
		}
	}
}

func TestTenantsOf(t *testing.T) {
	for name, test := range map[string]struct {
		i    snapshot.Interface
		want []string
	}{
		"nobody's":          {snapshot.Interface{Description: "mine"}, nil},
		"the VPC CNI's":     {snapshot.Interface{Tags: map[string]string{leak.TagCluster: "prod"}}, []string{"prod"}},
		"an empty name":     {snapshot.Interface{Tags: map[string]string{leak.TagCluster: "", "kubernetes.io/cluster/": "owned"}}, nil},
		"of a controller":   {snapshot.Interface{Tags: map[string]string{"kubernetes.io/cluster/dev": "owned"}}, []string{"dev"}},
		"the control plane": {snapshot.Interface{Description: "Amazon EKS theirs", RequesterManaged: true}, []string{"theirs"}},
		"as EC2 tells it":   {snapshot.Interface{Description: "Amazon EKS theirs", Attached: true}, []string{"theirs"}},
		"another product's": {snapshot.Interface{Description: "Amazon EKSless"}, nil},
		"no cluster's":      {snapshot.Interface{Description: "Amazon EKS "}, nil},
	} {
		if got := tenantsOf(test.i); len(got)+len(test.want) > 0 {
			gathertest.Same(t, name, got, test.want)
		}
	}
}
