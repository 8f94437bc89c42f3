package stage

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"rollcall/local/platform/template"
)

func tagged(pairs ...string) ec2types.NetworkInterface {
	eni := ec2types.NetworkInterface{VpcId: aws.String("vpc-1"), SubnetId: aws.String("subnet-1"), OwnerId: aws.String("111122223333")}
	for i := 0; i < len(pairs); i += 2 {
		eni.TagSet = append(eni.TagSet, ec2types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return eni
}

// oneInterface is an account that has one network interface, or has lost it.
type oneInterface struct {
	describer
	eni  ec2types.NetworkInterface
	gone bool
}

func (o oneInterface) DescribeNetworkInterfaces(*ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
	if o.gone {
		return nil, errors.New("not found")
	}
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: []ec2types.NetworkInterface{o.eni}}, nil
}

// A policy such as eni-cleanup has: the CNI's tag, one cluster, and for one VPC
// also what names no cluster.
func cleanupPolicy() []template.Statement {
	const any = "arn:aws:ec2:us-west-2:111122223333:network-interface/*"
	return []template.Statement{
		{SID: "Read", Effect: "Allow", Actions: []string{"ec2:DescribeNetworkInterfaces"}, Resources: []string{"*"}},
		{SID: "OfCluster", Effect: "Allow", Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{any},
			Conditions: map[string]map[string][]string{
				"StringLike":   {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
				"StringEquals": {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {"prod"}},
			}},
		{SID: "Untagged", Effect: "Allow", Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{any},
			Conditions: map[string]map[string][]string{
				"StringLike": {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
				"Null":       {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {"true"}},
				"ArnEquals":  {"ec2:Vpc": {"arn:aws:ec2:us-west-2:111122223333:vpc/vpc-2"}},
			}},
	}
}

func TestMayCall(t *testing.T) {
	const instance, cluster = "node.k8s.amazonaws.com/instance_id", "cluster.k8s.amazonaws.com/name"
	elsewhere := tagged(instance, "i-1")
	elsewhere.VpcId = aws.String("vpc-2")
	tests := map[string]struct {
		action string
		in     any
		eni    ec2types.NetworkInterface
		gone   bool
		want   bool
	}{
		"a read":                        {action: "ec2:DescribeNetworkInterfaces", in: &ec2.DescribeNetworkInterfacesInput{}, want: true},
		"a read without the right":      {action: "ec2:DescribeSubnets", in: &ec2.DescribeSubnetsInput{}},
		"a write without the right":     {action: "ec2:TerminateInstances", in: &ec2.TerminateInstancesInput{}},
		"the CNI's, of the cluster":     {eni: tagged(instance, "i-1", cluster, "prod"), want: true},
		"of another cluster":            {eni: tagged(instance, "i-1", cluster, "payments")},
		"without the CNI's tag":         {eni: tagged(cluster, "prod")},
		"untagged in another VPC":       {eni: tagged(instance, "i-1")},
		"untagged in the VPC of choice": {eni: elsewhere, want: true},
		"not there, so without tags":    {gone: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.action == "" {
				tt.action, tt.in = "ec2:DeleteNetworkInterface", &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-1")}
			}
			got, err := mayCall(cleanupPolicy(), tt.action, tt.in, things{account: "111122223333", region: "us-west-2", api: oneInterface{eni: tt.eni, gone: tt.gone}})
			if err != nil || got != tt.want {
				t.Errorf("allowed: %t (%v), want %t", got, err, tt.want)
			}
		})
	}
}

// On the stage a function can do what its role in the template allows.
func TestTheStageHoldsFunctionsToTheirRoles(t *testing.T) {
	virtual(t, theStageHoldsFunctionsToTheirRoles)
}

func theStageHoldsFunctionsToTheirRoles(t *testing.T) {
	r := start(t, "healthy-nat", func(o *Options) { o.Quiet = true })
	f, ok := r.Function("launch-watch")
	if !ok {
		t.Fatal("no launch-watch")
	}
	client := ec2.NewFromConfig(r.AsFunction(f))
	if _, err := client.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}); err != nil {
		t.Errorf("a read of its own: %v", err)
	}
	for _, dry := range []bool{false, true} {
		_, err := client.DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-0123456789abcdef0"), DryRun: &dry})
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != "UnauthorizedOperation" {
			t.Errorf("a delete, dry run %t: %v, want UnauthorizedOperation", dry, err)
		}
	}
	_, err := ec2.NewFromConfig(r.AsAdmin()).DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-0123456789abcdef0")})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "InvalidNetworkInterfaceID.NotFound" {
		t.Errorf("the person at the keyboard: %v, want not found", err)
	}
	if c := r.Buckets.Counts()["DeleteNetworkInterface"]; c.Calls != 3 || c.Throttled != 0 {
		t.Errorf("the bucket counts %+v, want 3 calls", c)
	}
}

// The bus takes events of the functions that may put them there, and of anyone else only
// a test message.
func TestTheStageGuardsTheBus(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "healthy-nat", func(o *Options) { o.Quiet = true })
		as := func(name string) aws.Config {
			f, ok := r.Function(name)
			if !ok {
				t.Fatalf("no %s", name)
			}
			return r.AsFunction(f)
		}
		const test, forged = "Rollcall Test Message", "Rollcall Check Wanted"
		for name, tt := range map[string]struct {
			as    aws.Config
			types []string
			code  string
		}{
			"a person's test message":            {r.AsAdmin(), []string{test}, ""},
			"a person's event":                   {r.AsAdmin(), []string{forged}, "AccessDeniedException"},
			"an event beside a test message":     {r.AsAdmin(), []string{test, forged}, "AccessDeniedException"},
			"a function that may not":            {as("join-check"), []string{forged}, "AccessDeniedException"},
			"a function that puts events itself": {as("sweep"), []string{forged}, ""},
		} {
			in := &eventbridge.PutEventsInput{}
			for _, kind := range tt.types {
				in.Entries = append(in.Entries, ebtypes.PutEventsRequestEntry{EventBusName: aws.String("rollcall"), Source: aws.String("rollcall"), DetailType: aws.String(kind), Detail: aws.String("{}")})
			}
			_, err := eventbridge.NewFromConfig(tt.as).PutEvents(t.Context(), in)
			var api smithy.APIError
			if errors.As(err, &api) != (tt.code != "") || api != nil && api.ErrorCode() != tt.code {
				t.Errorf("%s: %v, want %q", name, err, tt.code)
			}
		}
	})
}
