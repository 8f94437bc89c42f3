package capture

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
)

func opened(t *testing.T, files map[string]string) *Capture {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Open(dir, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func code(err error) string {
	var w *wire.Error
	if !errors.As(err, &w) {
		return ""
	}
	return w.Code
}

func TestFileName(t *testing.T) {
	for want, keys := range map[string][]string{
		"iam-get-role.a":                     {"a"},
		"iam-get-role.team__node%2Erole":     {"team/node.role"},
		"iam-get-role-policy.node.in%2Eline": {"node", "in.line"},
	} {
		operation, _, _ := strings.Cut(want, ".")
		if got := fileName(operation, keys...); got != want {
			t.Errorf("%q: got %q, want %q", keys, got, want)
		}
	}
}

func TestNewest(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"the newest":               {`{"LaunchTime": "2026-11-20T14:00:00+00:00", "StartTime": "2026-11-20T16:00:00+02:00"}`, "2026-11-20T14:00:00Z"},
		"a number":                 {`{"createdAt": 1795186690.5, "DiskSize": 1799999999}`, "2026-11-20T14:58:10Z"},
		"a scheduled event":        {`{"LaunchTime": "2026-11-20T14:00:00Z", "Events": [{"NotBefore": "2026-11-20T18:00:00Z", "NotBeforeDeadline": "2026-11-20T19:00:00Z"}]}`, "2026-11-20T14:00:00Z"},
		"a deprecation":            {`{"CreationDate": "2026-11-12T20:00:00.000Z", "DeprecationTime": "2026-11-13T20:00:00.000Z"}`, "2026-11-12T20:00:00Z"},
		"a time to come":           {`{"LaunchTime": "2026-11-20T14:00:00Z", "OddTime": "2027-01-01T00:00:00Z"}`, "2026-11-20T14:00:00Z"},
		"this machine is too slow": {`{"LaunchTime": "2026-11-25T14:00:00Z", "OddTime": "2026-11-20T00:00:00Z"}`, "2026-11-25T14:00:00Z"},
		"a heartbeat":              {`{"items": [{"metadata": {"creationTimestamp": "2026-11-20T14:00:00Z"}, "status": {"conditions": [{"lastHeartbeatTime": "2026-11-20T15:00:00Z"}]}}]}`, "2026-11-20T15:00:00Z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree, err := treeOf([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var m moments
			m.add(tree)
			got := m.newest(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)).Truncate(time.Second).Format(time.RFC3339)
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestTimeOf(t *testing.T) {
	const want = "2026-11-20T14:58:10Z"
	for _, src := range []any{
		"2026-11-20T14:58:10Z", "2026-11-20T14:58:10.000Z", "2026-11-20T14:58:10+00:00", "2026-11-20T23:58:10+09:00", "2026-11-20T23:58:10+0900",
		"2026-11-20 15:58:10+01:00", "2026-11-20T14:58:10", " 2026-11-20T14:58:10Z\n", json.Number("1795186690"), json.Number("1795186690.0"), json.Number("1.79518669e9"), json.Number("1795186690000"), "1795186690",
	} {
		got, err := timeOf(src)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%v: got %s, %v", src, got, err)
		}
	}
	for _, src := range []any{"", "noon", true, []any{}, "2026-13-40T00:00:00Z"} {
		if got, err := timeOf(src); err == nil {
			t.Errorf("%v: got %s", src, got)
		}
	}
}

func TestAnswers(t *testing.T) {
	c := opened(t, map[string]string{
		"ec2-describe-instances.json": `{"Reservations": [{"Instances": [
		  {"InstanceId": "i-1", "VpcId": "vpc-1", "State": {"Name": "running"}, "Tags": [{"Key": "kubernetes.io/cluster/prod", "Value": "owned"}]},
		  {"InstanceId": "i-2", "VpcId": "vpc-2", "State": {"Name": "hibernating-v2"}}]}]}`,
		"ec2-describe-internet-gateways.json":               `{"InternetGateways": [{"InternetGatewayId": "igw-1", "Attachments": [{"VpcId": "vpc-1", "State": "available"}]}, {"InternetGatewayId": "igw-2", "Attachments": []}]}`,
		"ec2-describe-network-interfaces.json":              `{"NetworkInterfaces": [{"NetworkInterfaceId": "eni-1", "Description": "Amazon EKS prod", "TagSet": [{"Key": "a", "Value": "b"}]}, {"NetworkInterfaceId": "eni-2", "Description": "x"}]}`,
		"ec2-get-console-output.i-1.json":                   `{"InstanceId": "i-1", "Output": "[    0.000000] Linux\n"}`,
		"ec2-describe-instance-attribute.i-1.userData.json": `{"InstanceId": "i-1", "UserData": {"Value": "IyEvYmluL3NoCg=="}}`,
		"autoscaling-describe-auto-scaling-groups.json": `{"AutoScalingGroups": [{"AutoScalingGroupName": "g", "WarmPoolConfiguration": {"MinSize": 1},
		  "Instances": [{"InstanceId": "i-1", "LifecycleState": "InService"}, {"InstanceId": "i-9", "LifecycleState": "Warmed:Stopped"}], "Tags": [{"Key": "eks:cluster-name", "Value": "prod"}]}, {"AutoScalingGroupName": "h"}]}`,
		"eks-describe-access-entry.prod.node.json":               `{"accessEntry": {"principalArn": "arn:aws:iam::111122223333:role/team/node", "type": "EC2_LINUX"}}`,
		"iam-get-role.team%2Enode.json":                          `{"Role": {"RoleName": "team.node", "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}}}`,
		"iam-get-role.plain.dots.json":                           `{"Role": {"RoleName": "plain.dots"}}`,
		"iam-get-policy-version.P.json":                          `{"PolicyVersion": {"VersionId": "v7", "Document": {"Statement": []}}}`,
		"ec2-describe-instance-types.json":                       `{"InstanceTypes": [{"InstanceType": "m5.large"}]}`,
		"ec2-describe-launch-template-versions.json":             `{"LaunchTemplateVersions": [{"LaunchTemplateId": "lt-1", "VersionNumber": 2}, {"LaunchTemplateId": "lt-1", "VersionNumber": 10, "DefaultVersion": true}]}`,
		"ec2-describe-capacity-reservations.json":                `{"CapacityReservations": [{"CapacityReservationId": "cr-1", "State": "active"}, {"CapacityReservationId": "cr-2", "State": "expired"}]}`,
		"kubectl-get-configmap-aws-auth.prod.json":               `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "aws-auth", "namespace": "kube-system"}}`,
		"eks-list-clusters.json":                                 `{"clusters": ["prod"], "nextToken": null}`,
		"errors.json":                                            `{"iam-get-role.gone": {"code": "NoSuchEntity"}, "ec2-describe-subnets.json": {"code": "UnauthorizedOperation"}, "kubectl-get-nodes.prod": {"code": "NotFound", "message": "m"}, "eks-describe-access-entry.prod.p.q": {"code": "ResourceNotFoundException"}}`,
		"sts-get-caller-identity.json":                           `{"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/a"}`,
		"ec2-describe-subnets.json":                              `{"Subnets": [{"SubnetId": "subnet-1", "AvailabilityZone": "eu-central-1b"}]}`,
		"ec2-describe-vpc-attribute.vpc-1.enableDnsSupport.json": `{"VpcId": "vpc-1", "EnableDnsSupport": {"Value": true}}`,
	})
	a := c.API()
	filter := func(name string, values ...string) []ec2types.Filter {
		return []ec2types.Filter{{Name: &name, Values: values}}
	}
	instances := func(f []ec2types.Filter) string {
		out, err := a.DescribeInstances(&ec2.DescribeInstancesInput{Filters: f})
		if err != nil {
			return code(err)
		}
		var ids []string
		for _, r := range out.Reservations {
			for _, in := range r.Instances {
				ids = append(ids, aws.ToString(in.InstanceId))
			}
		}
		return strings.Join(ids, " ")
	}
	gateways, gerr := a.DescribeInternetGateways(&ec2.DescribeInternetGatewaysInput{Filters: filter("attachment.vpc-id", "vpc-1")})
	interfaces, ierr := a.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: append(filter("description", "Amazon EKS *"), filter("tag:a", "b")...)})
	console, cerr := a.GetConsoleOutput(&ec2.GetConsoleOutputInput{InstanceId: aws.String("i-1")})
	data, derr := a.DescribeInstanceAttribute(&ec2.DescribeInstanceAttributeInput{InstanceId: aws.String("i-1"), Attribute: "userData"})
	warm, werr := a.DescribeWarmPool(&autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: aws.String("g")})
	groups, aerr := a.DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{Filters: []astypes.Filter{{Name: aws.String("tag:eks:cluster-name"), Values: []string{"prod"}}}})
	role, rerr := a.GetRole(&iam.GetRoleInput{RoleName: aws.String("team.node")})
	policy, perr := a.GetPolicy(&iam.GetPolicyInput{PolicyArn: aws.String("arn:aws:iam::aws:policy/P")})
	version, verr := a.DescribeLaunchTemplateVersions(&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: aws.String("lt-1"), Versions: []string{"$Latest"}})
	reserved, cperr := a.DescribeCapacityReservations(&ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{"cr-2"}})
	for _, err := range []error{gerr, ierr, cerr, derr, werr, aerr, rerr, perr, verr, cperr} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(err error) string { return code(err) }
	_, dots := a.GetRole(&iam.GetRoleInput{RoleName: aws.String("plain.dots")})
	_, gone := a.GetRole(&iam.GetRoleInput{RoleName: aws.String("gone")})
	_, none := a.GetRole(&iam.GetRoleInput{RoleName: aws.String("nobody")})
	_, other := a.DescribeAccessEntry(&eks.DescribeAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String("arn:aws:iam::111122223333:role/node")})
	_, path := a.DescribeAccessEntry(&eks.DescribeAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String("arn:aws:iam::111122223333:role/o/p.q")})
	_, denied := a.DescribeSubnets(&ec2.DescribeSubnetsInput{})
	_, metal := a.DescribeInstanceTypes(&ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m5.large", "z9.metal"}})
	_, nosuch := a.DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{"i-3"}})
	_, lt := a.DescribeLaunchTemplateVersions(&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: aws.String("lt-2")})
	_, _, nodes := c.Objects("prod", "nodes")
	_, _, pods := c.Objects("prod", "pods")
	auth, _, autherr := c.Objects("prod", "configmaps")
	var notFound, notRead *kubeapi.Status
	errors.As(nodes, &notFound)
	errors.As(pods, &notRead)
	got := map[string]any{
		"all": instances(nil), "by VPC": instances(filter("vpc-id", "vpc-2")), "by tag": instances(filter("tag-key", "kubernetes.io/cluster/*")),
		"by state": instances(filter("instance-state-name", "running", "pending")), "by nonsense": instances(filter("no-such", "x")),
		"gateways": len(gateways.InternetGateways), "interfaces": len(interfaces.NetworkInterfaces), "console": aws.ToString(console.Output), "user data": aws.ToString(data.UserData.Value),
		"warm": aws.ToString(warm.Instances[0].InstanceId), "groups": len(groups.AutoScalingGroups), "document": aws.ToString(role.Role.AssumeRolePolicyDocument)[:4], "policy": aws.ToString(policy.Policy.DefaultVersionId),
		"latest": aws.ToInt64(version.LaunchTemplateVersions[0].VersionNumber), "plain dots": refuse(dots), "gone": refuse(gone), "none": refuse(none), "other principal": refuse(other), "path": refuse(path),
		"denied": refuse(denied), "type": refuse(metal), "id": refuse(nosuch), "template": refuse(lt), "nodes": notFound.Code, "pods": notRead.Reason, "auth": len(auth), "auth error": autherr,
		"account": c.Account, "clusters": c.Clusters, "reserved": len(reserved.CapacityReservations), "state": reserved.CapacityReservations[0].State,
	}
	want := map[string]any{
		"all": "i-1 i-2", "by VPC": "i-2", "by tag": "i-1", "by state": "i-1", "by nonsense": "InvalidParameterValue",
		"gateways": 1, "interfaces": 1, "console": "WyAgICAwLjAwMDAwMF0gTGludXgK", "user data": "IyEvYmluL3NoCg==",
		"warm": "i-9", "groups": 1, "document": "%7B%", "policy": "v7", "latest": int64(10),
		"plain dots": "", "gone": "NoSuchEntity", "none": NotCaptured, "other principal": NotCaptured, "path": "ResourceNotFoundException",
		"denied": "UnauthorizedOperation", "type": NotCaptured, "id": "InvalidInstanceID.NotFound", "template": NotCaptured, "nodes": 404, "pods": NotCaptured, "auth": 1, "auth error": error(nil),
		"account": "111122223333", "clusters": []string{"prod"}, "reserved": 1, "state": ec2types.CapacityReservationStateExpired,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEveryOperationIsServed holds that each file of AWS's calls has a method
// that reads it, so that nothing in a capture is left unread by mistake.
func TestEveryOperationIsServed(t *testing.T) {
	api := reflect.TypeFor[API]()
	for name, typ := range operations() {
		if typ == nil || name == "sts-get-caller-identity" {
			continue // Kubernetes; and package cloud answers STS
		}
		op := strings.TrimSuffix(typ.Name(), "Output")
		if name == "ec2-get-console-output" {
			op = "GetConsoleOutput"
		}
		if _, ok := api.MethodByName(op); !ok {
			t.Errorf("%s: API has no method %s", name, op)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("ec2-describe-instances", `{"Reservations": [{"Instances": [{"InstanceId": "i-1", "LaunchTime": 1795186690.0}]}]}`)
	f.Add("eks-describe-cluster", `{"cluster": {"name": "prod", "createdAt": "2026-10-02T08:11:30.123000+02:00", "new": {}}}`)
	f.Add("iam-get-role", `{"Role": {"AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow"}]}}}`)
	f.Add("kubectl-get-nodes", `{"kind": "List", "items": [{"metadata": {"name": "a"}}]}`)
	f.Add("autoscaling-describe-scaling-activities", "\xff\xfe{\x00}\x00")
	f.Fuzz(func(t *testing.T, operation, text string) {
		tree, err := treeOf([]byte(text))
		m, ok := tree.(map[string]any)
		if err != nil || !ok {
			return
		}
		var times moments
		times.add(tree)
		times.newest(time.Unix(minEpoch, 0))
		if typ := operations()[operation]; typ != nil {
			_ = decode(reflect.New(typ).Elem(), tree, "")
		}
		if list, _, err := objects(m); err == nil {
			for _, raw := range list {
				if !json.Valid(raw) {
					t.Errorf("an object is not JSON: %q", raw)
				}
			}
		}
	})
}
