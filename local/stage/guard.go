package stage

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/cloud"
	"rollcall/local/template"
	"rollcall/local/wire"
)

// admitCall decides whether EC2 takes a call: its request buckets first, then IAM.
func (s *Stage) admitCall(ctx context.Context, call *wire.Call, in any) error {
	if s.Buckets != nil {
		if err := s.Buckets.Admit(ctx, call, in); err != nil {
			return err
		}
	}
	if call.Service != "ec2" || s.World == nil {
		return nil
	}
	i := -1
	for n, f := range s.Template.Functions {
		if f.Name == call.Principal.Name {
			i = n
		}
	}
	if i < 0 {
		return nil // the person at the keyboard, who may do everything
	}
	ok, err := mayCall(s.Policy(s.Template.Functions[i].Name), call.Action(), in, s.things())
	if err != nil {
		return fmt.Errorf("the policy of %s: %w", call.Principal.Name, err)
	}
	if !ok {
		s.log.Warn("IAM does not allow a call", "function", call.Principal.Name, "action", call.Action())
		return wire.Denied
	}
	return nil
}

// things is what IAM knows of the account.
type things struct {
	account, region  string
	networkInterface func(id string) (ec2types.NetworkInterface, bool)
}

func (s *Stage) things() things {
	return things{account: s.Template.AccountID, region: s.Template.Region, networkInterface: func(id string) (ec2types.NetworkInterface, bool) {
		out, err := s.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
		if err != nil || len(out.NetworkInterfaces) != 1 {
			return ec2types.NetworkInterface{}, false
		}
		return out.NetworkInterfaces[0], true
	}}
}

// mayCall tells whether policies allow a call of EC2. Writes are judged by
// their resource and its condition keys, as in AWS (service authorization
// reference, EC2). Reads are judged by their action: which resource each takes
// is held by the functions' own tests.
func mayCall(policy []template.Statement, action string, in any, t things) (bool, error) {
	_, operation, _ := strings.Cut(action, ":")
	keys := map[string][]string{"aws:RequestedRegion": {t.region}, "aws:PrincipalAccount": {t.account}}
	if reads(operation) {
		anywhere := make([]template.Statement, len(policy))
		for i, st := range policy {
			anywhere[i] = st
			if st.Effect == "Allow" {
				anywhere[i].Resources, anywhere[i].NotResources = []string{"*"}, nil
			}
		}
		return template.Allows(anywhere, action, "*", keys)
	}
	resource, more, ok := t.resource(in)
	if !ok {
		return template.Allows(policy, action, "*", keys)
	}
	maps.Copy(keys, more)
	return template.Allows(policy, action, resource, keys)
}

// Resource is what IAM sees of a write to a network interface at this moment:
// its ARN and its condition keys. It is false for other calls.
func (s *Stage) Resource(in any) (arn string, keys map[string][]string, ok bool) {
	return s.things().resource(in)
}

func (t things) resource(in any) (arn string, keys map[string][]string, ok bool) {
	id, ok := interfaceOf(in)
	if !ok {
		return "", nil, false
	}
	keys = map[string][]string{}
	if eni, known := t.networkInterface(id); known {
		for _, tag := range eni.TagSet {
			for _, prefix := range []string{"aws:ResourceTag/", "ec2:ResourceTag/"} {
				keys[prefix+aws.ToString(tag.Key)] = []string{aws.ToString(tag.Value)}
			}
		}
		keys["ec2:Vpc"] = []string{t.arn("vpc/" + aws.ToString(eni.VpcId))}
		keys["ec2:Subnet"] = []string{t.arn("subnet/" + aws.ToString(eni.SubnetId))}
		keys["ec2:AvailabilityZone"] = []string{aws.ToString(eni.AvailabilityZone)}
		keys["aws:ResourceAccount"] = []string{aws.ToString(eni.OwnerId)}
	}
	return t.arn("network-interface/" + id), keys, true
}

func (t things) arn(rest string) string {
	return "arn:aws:ec2:" + t.region + ":" + t.account + ":" + rest
}

func reads(operation string) bool {
	for _, verb := range []string{"Describe", "Get", "Search", "List"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

// interfaceOf is the network interface that a write is about.
func interfaceOf(in any) (string, bool) {
	switch in := in.(type) {
	case *ec2.DeleteNetworkInterfaceInput:
		return aws.ToString(in.NetworkInterfaceId), true
	case *ec2.AttachNetworkInterfaceInput:
		return aws.ToString(in.NetworkInterfaceId), true
	case *ec2.AssignPrivateIpAddressesInput:
		return aws.ToString(in.NetworkInterfaceId), true
	case *ec2.UnassignPrivateIpAddressesInput:
		return aws.ToString(in.NetworkInterfaceId), true
	}
	return "", false
}

// buckets are EC2's request buckets, if the stage has them.
func (s *Stage) buckets() *cloud.Buckets {
	if s.options.Unlimited {
		return nil
	}
	return cloud.NewBuckets(s.now, s.options.Rivals...)
}

// now is the stage time: the clock's, or the world's where a test has moved it
// ahead by hand.
func (s *Stage) now() time.Time {
	now := s.Clock.Now()
	if s.World != nil {
		if w := s.World.Now(); w.After(now) {
			return w
		}
	}
	return now
}
