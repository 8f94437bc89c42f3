package world

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// An instance of a launch template that asks for an Elastic Fabric Adapter is
// described with one (EC2 User Guide, "Create and attach an Elastic Fabric Adapter").
func TestTemplateAsksForAnAdapter(t *testing.T) {
	for _, kind := range []string{"efa", "interface"} {
		w, _ := open(t, "ips")
		for _, v := range w.TemplateVersions.All() {
			v.LaunchTemplateData.NetworkInterfaces = []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), InterfaceType: aws.String(kind)}}
		}
		scaleGroups(t, w, 1, "web")
		w.Advance(w.Now().Add(5 * time.Minute))
		out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: membersOf(t, w, "web")[:1]})
		if err != nil {
			t.Fatal(err)
		}
		if got := aws.ToString(out.Reservations[0].Instances[0].NetworkInterfaces[0].InterfaceType); got != kind {
			t.Errorf("its first interface is of type %q, want %q", got, kind)
		}
	}
}
