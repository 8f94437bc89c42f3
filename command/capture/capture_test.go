package capture

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"rollcall/shared/capture"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/tools/testfile"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
)

func opened(t *testing.T, files map[string]string) *Capture {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testfile.Write(t, filepath.Join(dir, name), []byte(text))
	}
	c, err := Open(dir, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask asks the capture as the SDK's middleware does.
func ask[O any](c *Capture, in any) (*O, error) {
	typ := reflect.TypeOf(in).Elem()
	out, err := c.Answer(filepath.Base(typ.PkgPath())+":"+strings.TrimSuffix(typ.Name(), "Input"), in)
	o, _ := out.(*O)
	return o, err
}

// objectsOf asks a cluster's API for what is at a path: how many there are, or how they are
// refused.
func objectsOf(t *testing.T, c *Capture, path string) (n int, refused statusError) {
	t.Helper()
	body, err := apiServer{c, "prod"}.get(httptest.NewRequest(http.MethodGet, path, nil))
	if errors.As(err, &refused) {
		return 0, refused
	}
	var list struct{ Items []json.RawMessage }
	if err != nil || json.Unmarshal(body, &list) != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if list.Items == nil {
		return 1, refused
	}
	return len(list.Items), refused
}

func code(err error) string {
	var w *smithy.GenericAPIError
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
		if got := capture.FileName(operation, keys...); got != want {
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
	a := c
	filter := func(name string, values ...string) []ec2types.Filter {
		return []ec2types.Filter{{Name: &name, Values: values}}
	}
	instances := func(f []ec2types.Filter) string {
		out, err := ask[ec2.DescribeInstancesOutput](a, &ec2.DescribeInstancesInput{Filters: f})
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
	gateways, gerr := ask[ec2.DescribeInternetGatewaysOutput](a, &ec2.DescribeInternetGatewaysInput{Filters: filter("attachment.vpc-id", "vpc-1")})
	interfaces, ierr := ask[ec2.DescribeNetworkInterfacesOutput](a, &ec2.DescribeNetworkInterfacesInput{Filters: append(filter("description", "Amazon EKS *"), filter("tag:a", "b")...)})
	console, cerr := ask[ec2.GetConsoleOutputOutput](a, &ec2.GetConsoleOutputInput{InstanceId: aws.String("i-1")})
	data, derr := ask[ec2.DescribeInstanceAttributeOutput](a, &ec2.DescribeInstanceAttributeInput{InstanceId: aws.String("i-1"), Attribute: "userData"})
	warm, werr := ask[autoscaling.DescribeWarmPoolOutput](a, &autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: aws.String("g")})
	groups, aerr := ask[autoscaling.DescribeAutoScalingGroupsOutput](a, &autoscaling.DescribeAutoScalingGroupsInput{Filters: []astypes.Filter{{Name: aws.String("tag:eks:cluster-name"), Values: []string{"prod"}}}})
	role, rerr := ask[iam.GetRoleOutput](a, &iam.GetRoleInput{RoleName: aws.String("team.node")})
	policy, perr := ask[iam.GetPolicyOutput](a, &iam.GetPolicyInput{PolicyArn: aws.String("arn:aws:iam::aws:policy/P")})
	version, verr := ask[ec2.DescribeLaunchTemplateVersionsOutput](a, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: aws.String("lt-1"), Versions: []string{"$Latest"}})
	reserved, cperr := ask[ec2.DescribeCapacityReservationsOutput](a, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{"cr-2"}})
	for _, err := range []error{gerr, ierr, cerr, derr, werr, aerr, rerr, perr, verr, cperr} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(err error) string { return code(err) }
	_, dots := ask[iam.GetRoleOutput](a, &iam.GetRoleInput{RoleName: aws.String("plain.dots")})
	_, gone := ask[iam.GetRoleOutput](a, &iam.GetRoleInput{RoleName: aws.String("gone")})
	_, none := ask[iam.GetRoleOutput](a, &iam.GetRoleInput{RoleName: aws.String("nobody")})
	_, other := ask[eks.DescribeAccessEntryOutput](a, &eks.DescribeAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String("arn:aws:iam::111122223333:role/node")})
	_, path := ask[eks.DescribeAccessEntryOutput](a, &eks.DescribeAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String("arn:aws:iam::111122223333:role/o/p.q")})
	_, denied := ask[ec2.DescribeSubnetsOutput](a, &ec2.DescribeSubnetsInput{})
	_, metal := ask[ec2.DescribeInstanceTypesOutput](a, &ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m5.large", "z9.metal"}})
	_, nosuch := ask[ec2.DescribeInstancesOutput](a, &ec2.DescribeInstancesInput{InstanceIds: []string{"i-3"}})
	_, lt := ask[ec2.DescribeLaunchTemplateVersionsOutput](a, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: aws.String("lt-2")})
	_, notFound := objectsOf(t, c, "/api/v1/nodes")
	_, notRead := objectsOf(t, c, "/api/v1/pods")
	auth, autherr := objectsOf(t, c, "/api/v1/namespaces/kube-system/configmaps/aws-auth")
	got := map[string]any{
		"all": instances(nil), "by VPC": instances(filter("vpc-id", "vpc-2")), "by tag": instances(filter("tag-key", "kubernetes.io/cluster/*")),
		"by state": instances(filter("instance-state-name", "running", "pending")), "by nonsense": instances(filter("no-such", "x")),
		"gateways": len(gateways.InternetGateways), "interfaces": len(interfaces.NetworkInterfaces), "console": aws.ToString(console.Output), "user data": aws.ToString(data.UserData.Value),
		"warm": aws.ToString(warm.Instances[0].InstanceId), "groups": len(groups.AutoScalingGroups), "document": aws.ToString(role.Role.AssumeRolePolicyDocument)[:4], "policy": aws.ToString(policy.Policy.DefaultVersionId),
		"latest": aws.ToInt64(version.LaunchTemplateVersions[0].VersionNumber), "plain dots": refuse(dots), "gone": refuse(gone), "none": refuse(none), "other principal": refuse(other), "path": refuse(path),
		"denied": refuse(denied), "type": refuse(metal), "id": refuse(nosuch), "template": refuse(lt), "nodes": notFound.Code, "pods": notRead.Reason, "auth": auth, "auth error": autherr.Code,
		"account": c.Account, "clusters": c.Clusters, "reserved": len(reserved.CapacityReservations), "state": reserved.CapacityReservations[0].State,
	}
	want := map[string]any{
		"all": "i-1 i-2", "by VPC": "i-2", "by tag": "i-1", "by state": "i-1", "by nonsense": "InvalidParameterValue",
		"gateways": 1, "interfaces": 1, "console": "WyAgICAwLjAwMDAwMF0gTGludXgK", "user data": "IyEvYmluL3NoCg==",
		"warm": "i-9", "groups": 1, "document": "%7B%", "policy": "v7", "latest": int64(10),
		"plain dots": "", "gone": "NoSuchEntity", "none": NotCaptured, "other principal": NotCaptured, "path": "ResourceNotFoundException",
		"denied": "UnauthorizedOperation", "type": NotCaptured, "id": "InvalidInstanceID.NotFound", "template": NotCaptured, "nodes": 404, "pods": NotCaptured, "auth": 1, "auth error": 0,
		"account": "111122223333", "clusters": []string{"prod"}, "reserved": 1, "state": ec2types.CapacityReservationStateExpired,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
			for _, o := range list {
				if _, err := json.Marshal(o); err != nil {
					t.Errorf("an object cannot be written: %v", err)
				}
			}
		}
	})
}

// What is empty is not there: a time that was not set, a cluster without a
// name.
func TestEmptyIsAbsent(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"autoscaling-describe-scaling-activities.json": `{"Activities": [{"ActivityId": "a", "StartTime": "2026-11-20T14:58:10Z", "EndTime": ""}]}`,
		"eks-list-clusters.json":                       `{"clusters": ["", "prod"]}`,
	} {
		testfile.Write(t, filepath.Join(dir, name), []byte(text))
	}
	c, err := Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	out, err := ask[autoscaling.DescribeScalingActivitiesOutput](c, &autoscaling.DescribeScalingActivitiesInput{})
	if err != nil || len(out.Activities) != 1 || out.Activities[0].EndTime != nil || out.Activities[0].StartTime == nil {
		t.Errorf("activities %+v, %v; want one that has begun and not ended", out, err)
	}
	list, err := ask[eks.ListClustersOutput](c, &eks.ListClustersInput{})
	if err != nil || len(list.Clusters) != 1 || list.Clusters[0] != "prod" {
		t.Errorf("clusters %+v, %v; want prod alone", list, err)
	}
}

// A capture is another person's folder: nothing outside of it is read, nothing waits for a
// pipe, and no message quotes what a file holds.
func TestForeignFolder(t *testing.T) {
	const secret = "hvs.SECRETTOKEN-first-line-of-a-file"
	outside := filepath.Join(t.TempDir(), "secret")
	testfile.Write(t, outside, []byte(`{"Vpcs": "`+secret+`"}`))
	link := func(name, to string) func(string) error {
		return func(dir string) error { return os.Symlink(to, filepath.Join(dir, name)) }
	}
	write := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	for name, x := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"time.txt is a link":           {link("time.txt", outside), "not a regular file"},
		"a file is a link":             {link("ec2-describe-vpcs.json", outside), "not a regular file"},
		"a link within the folder":     {link("ec2-describe-vpcs.json", "sts-get-caller-identity.json"), "not a regular file"},
		"a device":                     {link("event.json", os.DevNull), "not a regular file"},
		"a folder":                     {func(dir string) error { return os.Mkdir(filepath.Join(dir, "errors.json"), 0o700) }, "not a regular file"},
		"a pipe":                       {func(dir string) error { return fifo(filepath.Join(dir, "ec2-describe-vpcs.json")) }, "not a regular file"},
		"the time is something else":   {write("time.txt", secret), "the text is not a time"},
		"a value is something else":    {write("ec2-describe-vpcs.json", `{"Vpcs": "`+secret+`"}`), "want a list, got text"},
		"a number is something else":   {write("ec2-describe-vpcs.json", `{"Vpcs": 31337}`), "want a list, got a number"},
		"nothing but brackets":         {write("ec2-describe-vpcs.json", `{"Vpcs":[`+strings.Repeat("[],", maxNodes/2)+`[]]}`), "values"},
		"brackets in a text are well":  {write("ec2-describe-vpcs.json", `{"Vpcs":[{"VpcId":"`+strings.Repeat("[", 2*maxNodes)+`"}]}`), ""},
		"a link that nothing asks for": {link("notes.md", outside), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "pipe") && runtime.GOOS == "windows" {
				t.Skip("Windows has no pipes in folders")
			}
			dir := t.TempDir()
			for _, make := range []func(string) error{write("sts-get-caller-identity.json", `{"Account":"111122223333"}`), x.make} {
				if err := make(dir); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(dir, time.Now())
			switch {
			case x.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "31337")):
				t.Errorf("error %v, want %q", err, x.want)
			}
		})
	}
}

// TestImagesOfAnOwner: a capture holds the images that something names: that it has no
// other of an owner proves nothing.
func TestImagesOfAnOwner(t *testing.T) {
	a := opened(t, map[string]string{"ec2-describe-images.json": `{"Images": [{"ImageId": "ami-1", "OwnerId": "111122223333"}]}`})
	if _, err := ask[ec2.DescribeImagesOutput](a, &ec2.DescribeImagesInput{Owners: []string{"self"}}); code(err) != NotCaptured {
		t.Errorf("those of an owner: %v", err)
	}
	if out, err := ask[ec2.DescribeImagesOutput](a, &ec2.DescribeImagesInput{}); err != nil || len(out.Images) != 1 {
		t.Errorf("all: %+v, %v", out, err)
	}
}

// TestLogs: the files are what `aws logs` prints.
func TestLogs(t *testing.T) {
	c := opened(t, map[string]string{
		"logs-describe-delivery-sources.json":                        `{"deliverySources": [{"name": "s", "resourceArns": ["cluster"], "logType": "AUTO_MODE_COMPUTE_LOGS", "tags": {}}]}`,
		"logs-describe-deliveries.json":                              `{"deliveries": [{"id": "1", "deliverySourceName": "s", "deliveryDestinationArn": "d", "deliveryDestinationType": "CWL"}]}`,
		"logs-describe-delivery-destinations.json":                   `{"deliveryDestinations": [{"arn": "d", "deliveryDestinationConfiguration": {"destinationResourceArn": "g"}}]}`,
		"logs-filter-log-events.__aws__vendedlogs__eks__v1%2E2.json": `{"events": [{"timestamp": 5, "message": "gpu-a 5"}, {"timestamp": 7, "message": "gpu-b 7"}, {"timestamp": 8, "message": "gpu-a 8"}, {"timestamp": 9, "message": "gpu-a 9"}], "searchedLogStreams": []}`,
	})
	const group = "/aws/vendedlogs/eks/v1.2"
	if diff := cmp.Diff([]string{group}, c.LogGroups()); diff != "" {
		t.Errorf("log groups (-want +got):\n%s", diff)
	}
	logs := cloudwatchlogs.New(c.AWS())
	sources, _, err := logs.DescribeDeliverySources(t.Context(), "")
	if diff := cmp.Diff([]cloudwatchlogs.DeliverySource{{Name: "s", Resources: []string{"cluster"}, LogType: "AUTO_MODE_COMPUTE_LOGS"}}, sources); diff != "" || err != nil {
		t.Errorf("sources, %v (-want +got):\n%s", err, diff)
	}
	deliveries, _, err := logs.DescribeDeliveries(t.Context(), "")
	if err != nil || len(deliveries) != 1 || deliveries[0].Destination != "d" {
		t.Errorf("deliveries %+v, %v", deliveries, err)
	}
	destinations, _, err := logs.DescribeDeliveryDestinations(t.Context(), "")
	if err != nil || len(destinations) != 1 || destinations[0].Configuration.Resource != "g" {
		t.Errorf("destinations %+v, %v", destinations, err)
	}
	search := cloudwatchlogs.Filter{Group: group, Pattern: `?"gpu-a"`, Start: time.UnixMilli(6), End: time.UnixMilli(8)}
	events, _, err := logs.FilterLogEvents(t.Context(), search)
	if err != nil || len(events) != 1 || events[0].Message != "gpu-a 8" {
		t.Errorf("events %+v, %v, want that of 8", events, err)
	}
	search.Group = "other"
	if _, _, err := logs.FilterLogEvents(t.Context(), search); code(err) != NotCaptured {
		t.Errorf("a group that nobody read: %v", err)
	}
	without := cloudwatchlogs.New(opened(t, map[string]string{"eks-list-clusters.json": `{"clusters": ["prod"]}`}).AWS())
	if _, _, err := without.DescribeDeliveries(t.Context(), ""); code(err) != NotCaptured {
		t.Errorf("deliveries that nobody took along: %v", err)
	}
}

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
			a := opened(t, files)
			by := func(name, value string) []ec2types.Filter {
				return []ec2types.Filter{{Name: aws.String(name), Values: []string{value}}}
			}
			_, known := ask[ec2.DescribeInstancesOutput](a, &ec2.DescribeInstancesInput{Filters: by("instance-id", "i-1")})
			_, unknown := ask[ec2.DescribeInstancesOutput](a, &ec2.DescribeInstancesInput{Filters: by("instance-id", "i-2")})
			_, all := ask[ec2.DescribeNetworkInterfacesOutput](a, &ec2.DescribeNetworkInterfacesInput{Filters: by("vpc-id", "vpc-1")})
			_, some := ask[ec2.DescribeNetworkInterfacesOutput](a, &ec2.DescribeNetworkInterfacesInput{Filters: append(by("vpc-id", "vpc-1"), by("description", "Amazon EKS prod")...)})
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

// No client asks again for what a capture does not hold.
func TestThrottledIsNotAskedAgain(t *testing.T) {
	for code, want := range map[string]string{
		"RequestLimitExceeded": NotCaptured, "ThrottlingException": NotCaptured, "EC2ThrottledException": NotCaptured,
		"UnauthorizedOperation": "UnauthorizedOperation", "NoSuchEntity": "NoSuchEntity",
	} {
		if got := (refusal{code: code, message: "m"}).aws(); got.Code != want {
			t.Errorf("%s is answered with %s, want %s", code, got.Code, want)
		}
	}
}

// TestLaunchCalls: records of the last hour, of both calls, oldest first.
func TestLaunchCalls(t *testing.T) {
	c := opened(t, map[string]string{
		"time.txt": "2026-11-20T15:10:00Z\n",
		"cloudtrail-lookup-events.CreateFleet.json": `{"Events": [
			{"EventTime": "2026-11-20T15:09:00+00:00", "CloudTrailEvent": "{\"eventTime\": \"2026-11-20T15:09:00Z\", \"n\": 3}"},
			{"CloudTrailEvent": "{\"eventTime\": \"2026-11-20T14:09:00Z\", \"n\": 0}"}, {"CloudTrailEvent": "no record"}, {}]}`,
		"cloudtrail-lookup-events.RunInstances.json": `{"Events": [
			{"CloudTrailEvent": "{\"eventTime\": \"2026-11-20T14:10:00Z\", \"n\": 1}"}, {"CloudTrailEvent": "{\"eventTime\": \"2026-11-20T15:11:00Z\", \"n\": 4}"}]}`,
	})
	var got []string
	for _, raw := range c.LaunchCalls() {
		got = append(got, string(raw))
	}
	want := []string{`{"eventTime": "2026-11-20T14:10:00Z", "n": 1}`, `{"eventTime": "2026-11-20T15:09:00Z", "n": 3}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got := opened(t, map[string]string{"eks-list-clusters.json": `{"clusters": ["prod"]}`}).LaunchCalls(); len(got) > 0 {
		t.Errorf("records of a capture without them: %s", got)
	}
}

// TestWithout: a capture without a file is what is read of a folder without it.
func TestWithout(t *testing.T) {
	images := `{"Images": [{"ImageId": "ami-1", "OwnerId": "111122223333"}]}`
	described := `{"cluster": {"name": "prod", "arn": "arn:aws:eks:us-west-2:111122223333:cluster/prod"}}`
	all := opened(t, map[string]string{"time.txt": "2026-11-20T15:00:00Z", "ec2-describe-images.json": images, "eks-describe-cluster.prod.json": described})
	for name, test := range map[string]struct {
		files   map[string]string
		without string
		refused bool
	}{
		"a list missing":    {map[string]string{"eks-describe-cluster.prod.json": described}, "ec2-describe-images", false},
		"a list refused":    {map[string]string{"eks-describe-cluster.prod.json": described, "errors.json": `{"ec2-describe-images": {"code": "AccessDenied", "message": "not authorized"}}`}, "ec2-describe-images", true},
		"a cluster missing": {map[string]string{"ec2-describe-images.json": images}, "eks-describe-cluster.prod", false},
	} {
		test.files["time.txt"] = "2026-11-20T15:00:00Z"
		want, got := opened(t, test.files), all.Without([]string{test.without}, test.refused)
		want.Dir, got.Dir, want.Warnings, got.Warnings = "", "", nil, nil
		if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s (-folder +memory):\n%s", name, diff)
		}
	}
}

// TestPolicyOfEvidence: a function asked for a version of a policy, by the policy that says which
// is the default one.
func TestPolicyOfEvidence(t *testing.T) {
	c := opened(t, map[string]string{
		"iam-get-policy-version.P.json": `{"PolicyVersion": {"VersionId": "v7", "Document": {"Statement": []}}}`,
		"asked.json":                    `{"iam-get-policy-version.P": [{"question": {"VersionId": ["v7"]}}]}`,
	})
	const arn = "arn:aws:iam::aws:policy/P"
	out, err := ask[iam.GetPolicyOutput](c, &iam.GetPolicyInput{PolicyArn: aws.String(arn)})
	if err != nil || aws.ToString(out.Policy.DefaultVersionId) != "v7" {
		t.Errorf("the policy: %+v, %v", out, err)
	}
	for version, want := range map[string]string{"v7": "", "v6": NotCaptured} {
		if _, err := ask[iam.GetPolicyVersionOutput](c, &iam.GetPolicyVersionInput{PolicyArn: aws.String(arn), VersionId: aws.String(version)}); code(err) != want {
			t.Errorf("version %s: %v, want %q", version, err, want)
		}
	}
}

// TestSelectors: what a selector cannot be answered from is refused, and no empty list.
func TestSelectors(t *testing.T) {
	c := opened(t, map[string]string{"kubectl-get-pods.prod.json": `{"items": [
		{"metadata": {"name": "a", "namespace": "default", "labels": {"app": "x"}}, "spec": {"nodeName": "n1"}},
		{"metadata": {"name": "b", "namespace": "kube-system"}, "spec": {"nodeName": "n2"}}]}`})
	for query, want := range map[string]int{
		"/api/v1/pods": 2, "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1": 1, "/api/v1/pods?labelSelector=app%3Dx": 1,
		"/api/v1/namespaces/kube-system/pods": 1, "/api/v1/pods?fieldSelector=spec.nodeName%3Dn3": 0,
		"/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1": -1, "/api/v1/pods?labelSelector=app%3D%3Dx": -1,
		"/api/v1/pods?labelSelector=app%20in%20(x)": -1, "/api/v1/pods?labelSelector=app": -1,
	} {
		n, refused := objectsOf(t, c, query)
		if refused.Reason == NotCaptured {
			n = -1
		}
		if n != want || refused.Reason != "" && want >= 0 {
			t.Errorf("%s: %d, %+v, want %d", query, n, refused, want)
		}
	}
}
