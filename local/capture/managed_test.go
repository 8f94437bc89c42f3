package capture

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
)

// TestWhatIsNotThereMayBeHidden: that an instance is not in a capture proves
// nothing where EKS Auto Mode runs nodes and nothing that it manages is there, unless the
// account shows it by itself.
func TestWhatIsNotThereMayBeHidden(t *testing.T) {
	const (
		auto    = `{"cluster": {"name": "prod", "computeConfig": {"enabled": true}}}`
		other   = `{"cluster": {"name": "prod"}}`
		plain   = `{"Reservations": [{"Instances": [{"InstanceId": "i-1", "VpcId": "vpc-1"}]}]}`
		managed = `{"Reservations": [{"Instances": [{"InstanceId": "i-1", "VpcId": "vpc-1", "Operator": {"Managed": true, "Principal": "eks.amazonaws.com"}}]}]}`
		hidden  = `{"Visibility": {"DefaultVisibility": "hidden"}}`
		visible = `{"Visibility": {"DefaultVisibility": "visible"}}`
	)
	for _, test := range []struct {
		name, cluster, instances, visibility, refused string
		told                                          bool
	}{
		{"no Auto Mode", other, plain, "", "", true},
		{"Auto Mode, and nobody asked", auto, plain, "", "", false},
		{"a managed instance is there", auto, managed, "", "", true},
		{"the account hides, and something managed is there", auto, managed, hidden, "", true},
		{"the account hides", auto, plain, hidden, "", false},
		{"the account hides, and there is no Auto Mode", other, plain, hidden, "", true},
		{"the account shows all", auto, plain, visible, "", true},
		{"the setting was refused", auto, plain, "", `{"` + visibilityFile + `": {"code": "UnauthorizedOperation"}}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{
				"eks-describe-cluster.prod.json": test.cluster, "ec2-describe-instances.json": test.instances,
				"ec2-describe-network-interfaces.json": `{"NetworkInterfaces": [{"NetworkInterfaceId": "eni-1", "VpcId": "vpc-1", "Description": "Amazon EKS prod"}]}`,
			}
			for name, text := range map[string]string{visibilityFile + ".json": test.visibility, "errors.json": test.refused} {
				if text != "" {
					files[name] = text
				}
			}
			a := opened(t, files).API()
			by := func(name, value string) []ec2types.Filter {
				return []ec2types.Filter{{Name: aws.String(name), Values: []string{value}}}
			}
			_, known := a.DescribeInstances(&ec2.DescribeInstancesInput{Filters: by("instance-id", "i-1")})
			_, unknown := a.DescribeInstances(&ec2.DescribeInstancesInput{Filters: by("instance-id", "i-2")})
			_, all := a.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: by("vpc-id", "vpc-1")})
			_, some := a.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: append(by("vpc-id", "vpc-1"), by("description", "Amazon EKS prod")...)})
			refusal := NotCaptured
			if test.told {
				refusal = ""
			}
			got := []string{code(known), code(unknown), code(all), code(some)}
			if diff := cmp.Diff([]string{"", refusal, refusal, ""}, got); diff != "" {
				t.Errorf("one that is there, one that is not, all interfaces, those of the control plane (-want +got):\n%s", diff)
			}
		})
	}
}
