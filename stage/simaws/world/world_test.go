package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"rollcall/stage/platform/wire"
	simec2 "rollcall/stage/simaws/ec2"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/trail"
	"rollcall/stage/simaws/worldfile"
)

func TestSameSeedSameEvents(t *testing.T) {
	run := func() []string {
		w, events := open(t, "burst-200")
		for at := w.Start(); at.Before(w.Start().Add(3 * time.Minute)); at = at.Add(7 * time.Second) {
			w.Advance(at)
		}
		var out []string
		for _, e := range *events {
			out = append(out, string(e))
		}
		return out
	}
	first := run()
	if diff := cmp.Diff(run(), first); diff != "" {
		t.Errorf("second run differs (-second +first):\n%s", diff)
	}
	if len(first) < 600 {
		t.Errorf("got %d events, want at least three for each of 200 instances", len(first))
	}
}

func TestStepsDoNotMatter(t *testing.T) {
	events := func(step time.Duration) []string {
		w, raw := open(t, "healthy-nat")
		for at := w.Start().Add(step); !at.After(w.Start().Add(3 * time.Minute)); at = at.Add(step) {
			w.Advance(at)
		}
		var out []string
		for _, e := range *raw {
			out = append(out, string(e))
		}
		return out
	}
	if diff := cmp.Diff(events(time.Second), events(3*time.Minute)); diff != "" {
		t.Errorf("events by small steps and by one (-small +one):\n%s", diff)
	}
}

func TestNextLeadsToTheNextThing(t *testing.T) {
	w, events := open(t, "healthy-nat")
	for range 1000 {
		at, ok := w.Next()
		if !ok || at.After(w.Start().Add(2*time.Minute)) {
			break
		}
		w.Advance(at)
	}
	if got := eventDetails(t, *events, "EC2 Instance Launch Successful"); len(got) != 1 {
		t.Errorf("got %d launches, want 1", len(got))
	}
	if w.Advance(w.Start()); w.Now().Before(w.Start().Add(time.Minute)) {
		t.Error("time went back")
	}
}

// The receiver of events may call the world.
func TestReceiverCallsTheWorld(t *testing.T) {
	f, err := worldfile.Load(filepath.Join("..", "..", "worlds", "healthy-nat.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var w *World
	states := map[string]bool{}
	w, err = New(f, Options{Events: func(e json.RawMessage) {
		var env struct {
			Detail struct{ EC2InstanceId string }
		}
		if json.Unmarshal(e, &env) != nil || env.Detail.EC2InstanceId == "" {
			return
		}
		out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{env.Detail.EC2InstanceId}})
		if err != nil {
			t.Error(err)
			return
		}
		states[string(out.Reservations[0].Instances[0].State.Name)] = true
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(2 * time.Minute))
	if diff := cmp.Diff(states, map[string]bool{"pending": true, "running": true}); diff != "" {
		t.Errorf("states seen (-got +want):\n%s", diff)
	}
}

func TestParallelCalls(t *testing.T) {
	w, _ := open(t, "burst-200")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{})
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range out.Reservations {
					r.Instances[0].Tags = append(r.Instances[0].Tags, r.Instances[0].Tags...)
				}
				if _, err := w.EKS().DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("default")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 60 {
		w.Advance(w.Start().Add(time.Duration(i) * time.Second))
	}
	wg.Wait()
}

// Every exported method of a service is an operation, and no two services have
// one of the same name, so that they can be served side by side.
func TestOperations(t *testing.T) {
	w, _ := open(t, "route")
	owner := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(w.Services())) {
		v := reflect.TypeOf(w.Services()[name])
		for i := range v.NumMethod() {
			m := v.Method(i)
			if m.Type.NumIn() != 2 || m.Type.NumOut() != 2 || m.Type.In(1).Elem().Name() != m.Name+"Input" || m.Type.Out(0).Elem().Name() != m.Name+"Output" {
				t.Errorf("%s.%s is %s, not an operation", name, m.Name, m.Type)
			}
			if other := owner[m.Name]; other != "" {
				t.Errorf("%s is in %s and %s", m.Name, other, name)
			}
			owner[m.Name] = name
		}
	}
	if len(owner) < 80 {
		t.Errorf("got %d operations, want at least 80", len(owner))
	}
}

// Every operation answers an empty input with an answer or an API error.
func TestEmptyInputs(t *testing.T) {
	for _, name := range []string{"ec2", "autoscaling", "eks", "iam"} {
		w, _ := open(t, "route")
		v := reflect.TypeOf(w.Services()[name])
		for i := range v.NumMethod() {
			if _, err := w.Call(name+":"+v.Method(i).Name, json.RawMessage(`{}`)); err != nil {
				code(t, err)
			}
		}
	}
}

func TestCallRefuses(t *testing.T) {
	w, _ := open(t, "route")
	for op, input := range map[string]string{
		"ec2:NoSuch": "{}", "s3:ListBuckets": "{}", "ec2": "{}", "ec2:CreateRoute": `{"RouteTable": "x"}`, "ec2:DeleteRoute": `[`,
	} {
		if _, err := w.Call(op, json.RawMessage(input)); err == nil {
			t.Errorf("%s %s: got no error", op, input)
		}
	}
}

func FuzzCall(f *testing.F) {
	f.Add("ec2:CreateRoute", []byte(`{"RouteTableId": "rtb-0cd20000000000002", "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-0aa40000000000001"}`))
	f.Add("ec2:RunInstances", []byte(`{"MinCount": 1, "MaxCount": 2, "SubnetId": "subnet-0c30000000000000d", "InstanceType": "m5.large"}`))
	f.Add("autoscaling:SetDesiredCapacity", []byte(`{"DesiredCapacity": -1}`))
	f.Add("eks:UpdateNodegroupConfig", []byte(`{"clusterName": "eks-workshop", "nodegroupName": "default", "scalingConfig": {"maxSize": 7}}`))
	f.Add("eks:CreateNodegroup", []byte(`{"clusterName": "eks-workshop", "nodegroupName": "n", "nodeRole": "arn:aws:iam::111122223333:role/new_nodegroup_2", "subnets": ["subnet-0c30000000000000d"], "scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": 1}}`))
	f.Add("eks:UpdateNodegroupVersion", []byte(`{"clusterName": "eks-workshop", "nodegroupName": "default", "version": "1.35"}`))
	f.Add("eks:DeleteNodegroup", []byte(`{"clusterName": "eks-workshop", "nodegroupName": "default"}`))
	f.Add("eks:UpdateAddon", []byte(`{"clusterName": "eks-workshop", "addonName": "vpc-cni", "configurationValues": "{}"}`))
	f.Add("ec2:DeleteSubnet", []byte(`{"SubnetId": "subnet-0c30000000000000d"}`))
	file, err := worldfile.Load(filepath.Join("..", "..", "worlds", "route.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, op string, input []byte) {
		w, err := New(file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		// Whatever is asked, the world goes on.
		_, _ = w.Call(op, input)
		w.Advance(w.Start().Add(time.Minute))
	})
}

// An account has an alias or none, of IAM's form; there is never a second page.
func TestAccountAliases(t *testing.T) {
	for name, x := range map[string]struct {
		aliases []string
		says    string
	}{
		"none":        {nil, ""},
		"one":         {[]string{"acme-2"}, ""},
		"two":         {[]string{"acme", "shop"}, "one at most"},
		"capitals":    {[]string{"Acme"}, "no alias that IAM takes"},
		"two hyphens": {[]string{"ac--me"}, "no alias that IAM takes"},
		"short":       {[]string{"ac"}, "no alias that IAM takes"},
	} {
		w, err := New(&worldfile.File{Account: "111122223333", Region: "us-west-2", Time: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), IAM: worldfile.IAMFile{AccountAliases: x.aliases}}, Options{Seed: 1})
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%s: %v, want %q", name, err, x.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := w.API().ListAccountAliases(&iam.ListAccountAliasesInput{})
		if err != nil || out.IsTruncated || out.Marker != nil || !slices.Equal(out.AccountAliases, x.aliases) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if _, err := w.API().ListAccountAliases(&iam.ListAccountAliasesInput{Marker: aws.String("x")}); err == nil || !strings.Contains(err.Error(), "Marker") {
			t.Errorf("%s: a marker that was never given: %v", name, err)
		}
		if _, err := w.API().ListAccountAliases(&iam.ListAccountAliasesInput{MaxItems: aws.Int32(0)}); err == nil || !strings.Contains(err.Error(), "maxItems") {
			t.Errorf("%s: pages of none: %v", name, err)
		}
	}
}

// autoLaunch is how EKS starts a node for Auto Mode.
func autoLaunch(t *testing.T, w *World, subnet string) string {
	t.Helper()
	out, err := w.Call("ec2:RunInstances", json.RawMessage(fmt.Sprintf(`{"MinCount":1,"MaxCount":1,"SubnetId":%q,"InstanceType":"m5.large","ImageId":"ami-0a070000000000a70",
		"SecurityGroupIds":["sg-0e50000000000000f"],"IamInstanceProfile":{"Name":"eks-us-west-2-eks-workshop-4067990795380418201"},"Operator":{"Principal":"eks.amazonaws.com"},
		"TagSpecifications":[{"ResourceType":"instance","Tags":[{"Key":"eks:eks-cluster-name","Value":"eks-workshop"},{"Key":"eks:kubernetes-node-pool-name","Value":"general-purpose"},
		{"Key":"kubernetes.io/cluster/eks-workshop","Value":"owned"}]}]}`, subnet)))
	if err != nil {
		t.Fatal(err)
	}
	return *out.(*ec2.RunInstancesOutput).Instances[0].InstanceId
}

// TestAutoModeNode: what an Auto Mode node is made of, at the start and when it
// is launched, and that it all goes with it.
func TestAutoModeNode(t *testing.T) {
	w, _ := open(t, "corpus/base-auto-mode")
	launched := autoLaunch(t, w, storySubnet)
	w.Advance(w.Now().Add(5 * time.Minute))
	all := aws.Bool(true)
	for _, id := range []string{autoInstance, launched} {
		out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		in := must(t, out, err).Reservations[0].Instances[0]
		if shownAs(in.Operator) != "eks.amazonaws.com, hidden" || state.TagValue(in.Tags, "aws:autoscaling:groupName") != "" {
			t.Errorf("%s: operator %q, tags %v", id, shownAs(in.Operator), in.Tags)
		}
		if len(in.NetworkInterfaces) != 1 || shownAs(in.NetworkInterfaces[0].Operator) == "" || len(in.NetworkInterfaces[0].Ipv4Prefixes) != 1 {
			t.Errorf("%s: interfaces %+v, want a managed one with a /28", id, in.NetworkInterfaces)
		}
		eni := w.InterfacesOf(id)[0]
		if state.TagValue(eni.TagSet, "eks:eks-cluster-name") != "eks-workshop" || state.TagValue(eni.TagSet, "eks:kubernetes-cni-node-name") != id {
			t.Errorf("%s: its interface bears %v", id, eni.TagSet)
		}
		volumes := map[string]bool{}
		for _, m := range in.BlockDeviceMappings {
			volumes[*m.Ebs.VolumeId] = true
		}
		listed, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{IncludeManagedResources: all})
		for _, v := range must(t, listed, err).Volumes {
			if volumes[*v.VolumeId] && (shownAs(v.Operator) != "eks.amazonaws.com, hidden" || *v.Attachments[0].InstanceId != id) {
				t.Errorf("%s: volume %+v", id, v)
			}
		}
		if len(volumes) != 2 {
			t.Errorf("%s has the volumes %v, want two", id, volumes)
		}
		_, n := w.NodeOf(id)
		if n == nil {
			t.Fatalf("%s is no node: %v", id, w.Paths(id))
		}
		got := []any{kubestate.At(*n, "metadata", "name"), kubestate.At(*n, "metadata", "labels", "eks.amazonaws.com/compute-type"), kubestate.At(*n, "metadata", "labels", "karpenter.sh/nodepool"), kubestate.At(*n, "status", "capacity", "pods"), readiness(t, w, id)}
		if diff := cmp.Diff([]any{id, "auto", "general-purpose", "110", "True"}, got); diff != "" {
			t.Errorf("%s: name, labels, pods, Ready (-want +got):\n%s", id, diff)
		}
	}
	_, err := w.EC2().TerminateInstances(&ec2.TerminateInstancesInput{InstanceIds: []string{launched}})
	if code(t, err) != "UnauthorizedOperation" {
		t.Errorf("a customer ends a managed instance: %v", err)
	}
	before := len(w.Volumes.All())
	release := w.Hold()
	lifecycle.Terminate(w.State, launched, lifecycle.UserShutdown())
	release()
	w.Advance(w.Now().Add(time.Minute))
	if got := len(w.Volumes.All()); before-got != 2 || len(w.InterfacesOf(launched)) != 0 {
		t.Errorf("%d of its volumes went with it, %d interfaces stayed", before-got, len(w.InterfacesOf(launched)))
	}
}

// TestAutoModeNodeWithoutARoute: it cannot join where another could not.
func TestAutoModeNodeWithoutARoute(t *testing.T) {
	w, _ := open(t, "corpus/route-no-egress-auto-mode")
	launched := autoLaunch(t, w, storySubnet)
	w.Advance(w.Now().Add(10 * time.Minute))
	if _, n := w.NodeOf(launched); n != nil {
		t.Errorf("it joined: %v", w.Paths(launched))
	}
}

// Describing a page out of 5,000 interfaces by filter: what one call of a
// sweep costs the stage.
func BenchmarkDescribeInterfaces(b *testing.B) {
	f, err := worldfile.Load("../../worlds/route.yaml")
	if err != nil {
		b.Fatal(err)
	}
	w, err := New(f, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for range 5000 {
		if _, err := w.EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(storySubnet), Description: aws.String("aws-K8S-i-0")}); err != nil {
			b.Fatal(err)
		}
	}
	in := &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{{Name: aws.String("description"), Values: []string{"aws-K8S-*"}}}}
	for b.Loop() {
		if _, err := w.EC2().DescribeNetworkInterfaces(in); err != nil {
			b.Fatal(err)
		}
	}
}

// corpusFolder holds the worlds that stand still; unseen.yaml beside them is
// no world.
const (
	corpusFolder = "../../worlds/corpus"
	unseenFile   = "unseen.yaml"
)

// unseenCases is unseen.yaml.
type unseenCases struct {
	Unseen []struct{ ID, URL, Why string }
	All    []string
}

func corpus(t *testing.T) map[string]*worldfile.File {
	t.Helper()
	paths, err := filepath.Glob(corpusFolder + "/*.yaml")
	if err != nil || len(paths) < 100 {
		t.Fatalf("got %d files (%v), want the corpus", len(paths), err)
	}
	worlds := map[string]*worldfile.File{}
	for _, path := range paths {
		if filepath.Base(path) == unseenFile {
			continue
		}
		f, err := worldfile.Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		worlds[strings.TrimSuffix(filepath.Base(path), ".yaml")] = f
	}
	return worlds
}

// Each world can be made, is called as its file, says what it is, and expects
// something that agrees with itself.
func TestCorpusWorldsAreWhole(t *testing.T) {
	for name, f := range corpus(t) {
		if f.Name != name || f.About == "" {
			t.Errorf("%s: name %q, about %q", name, f.Name, f.About)
		}
		if f.Expect.Healthy && (len(f.Expect.Incidents) > 0 || f.Expect.Unknown) || !f.Expect.Healthy && len(f.Expect.Incidents) == 0 && !f.Expect.Unknown {
			t.Errorf("%s: expects %+v", name, f.Expect)
		}
		if strings.HasSuffix(name, "-healthy") && !f.Expect.Healthy {
			t.Errorf("%s: it is called healthy, and expects %+v", name, f.Expect)
		}
		if _, err := New(f, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every public report is retold by a world, or is among those that cannot be.
func TestEveryCaseIsReportedOrUnseen(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(corpusFolder, unseenFile))
	if err != nil {
		t.Fatal(err)
	}
	var list unseenCases
	if err := yaml.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	where := map[string][]string{}
	for _, u := range list.Unseen {
		if !strings.HasPrefix(u.URL, "https://") || !strings.HasSuffix(u.Why, ".") {
			t.Errorf("%s: address %q, reason %q", u.ID, u.URL, u.Why)
		}
		where[u.ID] = append(where[u.ID], unseenFile)
	}
	for name, f := range corpus(t) {
		for _, id := range f.Cases {
			where[id] = append(where[id], name)
		}
	}
	for _, id := range list.All {
		switch files := where[id]; {
		case len(files) == 0:
			t.Errorf("case %s: no world retells it, and %s does not say why", id, unseenFile)
		case len(files) > 1 && slices.Contains(files, unseenFile):
			t.Errorf("case %s: it is unseen, and told in %q", id, files)
		}
		delete(where, id)
	}
	for id, files := range where {
		t.Errorf("case %q of %q is not in the list", id, files)
	}
}

const (
	fleetCaller   = "arn:aws:sts::111122223333:assumed-role/karpenter/1729504785943908908"
	fleetImage    = "ami-0a1e2d3c4b5a69788"
	fleetTemplate = "karpenter.k8s.aws/12345678901234567890"
	fleetSubnetA  = "subnet-0b20000000000000a"
	fleetSubnetB  = "subnet-0b20000000000000b"
	denyBigTypes  = `{"Version":"2012-10-17","Statement":[{"Sid":"SmallTypesOnly","Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"StringNotLike":{"ec2:InstanceType":["t3.*"]}}}]}`
	mayAll        = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:*","iam:PassRole"],"Resource":"*"}]}`
)

// fleetWorld is the workshop with a controller's role and a launch template.
func fleetWorld(t *testing.T, change ...func(*worldfile.File)) (*World, *[]json.RawMessage) {
	t.Helper()
	w, events := openWith(t, "healthy-nat", func(f *worldfile.File) {
		f.IAM.Roles = append(f.IAM.Roles, worldfile.RoleFile{
			Role:           iamtypes.Role{RoleName: aws.String("karpenter")},
			RolePolicyList: []iamtypes.PolicyDetail{{PolicyName: aws.String("karpenter"), PolicyDocument: aws.String(mayAll)}},
		})
		for _, c := range change {
			c(f)
		}
	})
	if _, err := w.EC2().CreateLaunchTemplate(&ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(fleetTemplate),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{
			ImageId:            aws.String(fleetImage),
			IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f")},
			NetworkInterfaces:  []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: aws.Int32(0), Groups: []string{"sg-0e50000000000000f"}}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	return w, events
}

// fleetOf asks for Spot or on-demand instances of types in two subnets, in the form
// of the samples.
func fleetOf(n int32, capacity ec2types.DefaultTargetCapacityType, overrides ...string) *ec2.CreateFleetInput {
	zones := map[string]string{fleetSubnetA: "us-west-2a", fleetSubnetB: "us-west-2b"}
	in := &ec2.CreateFleetInput{
		Type:                        ec2types.FleetTypeInstant,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{DefaultTargetCapacityType: capacity, TotalTargetCapacity: aws.Int32(n)},
		LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: aws.String(fleetTemplate), Version: aws.String("$Latest")},
		}},
	}
	if capacity == ec2types.DefaultTargetCapacityTypeSpot {
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized}
	}
	for _, o := range overrides {
		kind, subnet, _ := strings.Cut(o, " ")
		in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(kind), SubnetId: aws.String(subnet), AvailabilityZone: aws.String(zones[subnet]), ImageId: aws.String(fleetImage),
		})
	}
	for _, kind := range []ec2types.ResourceType{ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume, ec2types.ResourceTypeFleet} {
		tags := ec2types.TagSpecification{ResourceType: kind}
		for _, tag := range []string{"karpenter.sh/nodepool=default", "karpenter.k8s.aws/ec2nodeclass=default", "eks:eks-cluster-name=eks-workshop",
			"kubernetes.io/cluster/eks-workshop=owned", "cost-center=4711"} {
			key, value, _ := strings.Cut(tag, "=")
			tags.Tags = append(tags.Tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
		in.TagSpecifications = append(in.TagSpecifications, tags)
	}
	return in
}

// asCaller makes the call in the role's name, and records it as the controller's.
func asCaller(w *World, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
	out, err := simec2.For(w.State, fleetCaller).CreateFleet(in)
	c := trail.Call{
		Operation: "ec2:CreateFleet", CallerARN: fleetCaller, Input: in, Err: err, SourceIP: "52.10.20.30", UserAgent: "karpenter.sh-1.5.0",
		Federated: "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/CCB6EXAMPLE0000000000000000000000",
	}
	if err == nil {
		c.Output = out
	}
	w.Record(c)
	return out, err
}

// shapes are the paths of a JSON value with the kind of what is there: "a.b[].c string".
func shapes(v any, path string, into map[string]bool) map[string]bool {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			shapes(member, path+"."+key, into)
		}
	case []any:
		for _, member := range v {
			shapes(member, path+"[]", into)
		}
	default:
		into[fmt.Sprintf("%s %T", strings.TrimPrefix(path, "."), v)] = true
	}
	return into
}

// ofInstances are members that the answer has of an instance too (botocore's model,
// ec2/2016-11-15, CreateFleetInstance), which the sample was not given.
func ofInstances() []string {
	const of = "detail.responseElements.CreateFleetResponse.fleetInstanceSet.item.launchTemplateAndOverrides."
	return []string{of + "launchTemplateSpecification.launchTemplateId string", of + "launchTemplateSpecification.version float64", of + "overrides.imageId string"}
}

func withoutCapacity(kind string) func(*worldfile.File) {
	return func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{Type: kind, Zone: "us-west-2a", Capacity: aws.Int(0)}, worldfile.PoolFile{Type: kind,
			Zone: "us-west-2a", OnDemand: true, Capacity: aws.Int(0)})
	}
}

func underPolicy(document string) func(*worldfile.File) {
	return func(f *worldfile.File) {
		f.Organizations.ServiceControlPolicies = append(f.Organizations.ServiceControlPolicies, worldfile.ControlPolicy{Name: "test", Document: document})
	}
}

// The world's record of a fleet has the members of the true samples, each
// of their kind, and no others.
func TestFleetsAreRecordedAsTheSamples(t *testing.T) {
	dry := fleetOf(1, "spot", "m5.large "+fleetSubnetA, "m5.xlarge "+fleetSubnetB)
	dry.DryRun = aws.Bool(true)
	for sample, test := range map[string]struct {
		change func(*worldfile.File)
		in     *ec2.CreateFleetInput
		call   string
	}{
		"ec2-call-create-fleet-refused": {underPolicy(`{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`),
			fleetOf(29, "spot", "m5.large "+fleetSubnetA, "m5.xlarge "+fleetSubnetB), "CreateFleet"},
		"ec2-call-create-fleet-no-capacity": {func(f *worldfile.File) { withoutCapacity("m5.large")(f); withoutCapacity("m5.xlarge")(f) },
			fleetOf(29, "spot", "m5.large "+fleetSubnetA, "m5.xlarge "+fleetSubnetA), "CreateFleet"},
		"ec2-call-create-fleet-partial": {withoutCapacity("m5.large"), fleetOf(1, "spot", "m5.large "+fleetSubnetA, "m5.large "+fleetSubnetB), "CreateFleet"},
		"ec2-call-create-fleet-dry-run": {func(*worldfile.File) {}, dry, "CreateFleet"},
		"ec2-call-run-instances-by-fleet": {withoutCapacity("m5.large"),
			fleetOf(1, "spot", "m5.large "+fleetSubnetA), "RunInstances"},
	} {
		t.Run(sample, func(t *testing.T) {
			text, err := os.ReadFile("../../../events/in/" + sample + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			w, events := fleetWorld(t, test.change)
			// EC2 guesses that there is less left where much was taken.
			if _, err := w.EC2().CreateFleet(fleetOf(8, "spot", "m5.large "+fleetSubnetB)); err != nil {
				t.Fatal(err)
			}
			_, _ = asCaller(w, test.in) // what it answers is held elsewhere
			w.Advance(w.Start().Add(time.Minute))
			var got map[string]any
			for _, e := range recorded(t, *events) {
				if e["detail"].(map[string]any)["eventName"] == test.call {
					got = e
				}
			}
			if got == nil {
				t.Fatalf("%s was not told: %v", test.call, recorded(t, *events))
			}
			has := shapes(got, "", map[string]bool{})
			for _, more := range ofInstances() {
				delete(has, more)
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(shapes(want, "", map[string]bool{}))), slices.Sorted(maps.Keys(has))); diff != "" {
				t.Errorf("(-sample +world):\n%s", diff)
			}
			for _, member := range []string{"eventSource", "eventVersion", "eventType", "eventCategory", "awsRegion", "readOnly", "errorCode"} {
				if a, b := want["detail"].(map[string]any)[member], got["detail"].(map[string]any)[member]; a != b {
					t.Errorf("%s: %v, want %v", member, b, a)
				}
			}
			if got["source"] != "aws.ec2" || got["detail-type"] != want["detail-type"] {
				t.Errorf("%v of %v", got["detail-type"], got["source"])
			}
		})
	}
}

// An answer over CloudTrail's size is left out of the record.
func TestLongAnswerIsLeftOut(t *testing.T) {
	w, events := fleetWorld(t, underPolicy(denyBigTypes))
	in := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	for i := range 110 {
		o := in.LaunchTemplateConfigs[0].Overrides[0]
		o.ImageId = aws.String(fmt.Sprintf("ami-0a1e2d3c4b5a6%04d", i))
		in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, o)
	}
	out, err := asCaller(w, in)
	if err != nil || len(out.Errors) != 111 {
		t.Fatalf("%d errors, %v", len(out.Errors), err)
	}
	w.Advance(w.Start().Add(time.Minute))
	for _, e := range recorded(t, *events) {
		d := e["detail"].(map[string]any)
		if d["eventName"] == "CreateFleet" && (d["responseElements"] != nil || d["errorCode"] != nil) {
			t.Errorf("the answer of 111 errors is in the record")
		}
	}
}

// Each thing that keeps a fleet from an instance is said in EC2's words, and where
// EC2 says it: in the answer, or by failing the call.
func TestFleetRefusals(t *testing.T) {
	own := func(document string) func(*worldfile.File) {
		return func(f *worldfile.File) {
			f.IAM.Roles[len(f.IAM.Roles)-1].RolePolicyList[0].PolicyDocument = aws.String(document)
		}
	}
	both := func(a, b func(*worldfile.File)) func(*worldfile.File) {
		return func(f *worldfile.File) { a(f); b(f) }
	}
	usual := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	noTemplate := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	noTemplate.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName = aws.String("karpenter.k8s.aws/1")
	noImage := fleetOf(1, "on-demand", "m6g.large "+fleetSubnetA)
	untagged := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	untagged.TagSpecifications = nil
	tagged := `{"Statement":[{"Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"Null":{"aws:RequestTag/cost-center":"true"}}}]}`
	for name, test := range map[string]struct {
		change func(*worldfile.File)
		in     *ec2.CreateFleetInput
		// whole is set where the call fails.
		whole      bool
		code, says string
	}{
		"a policy of the organization, on the type": {underPolicy(denyBigTypes), usual, false, "UnauthorizedOperation",
			"User: " + fleetCaller + " is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit deny in a service control policy. Encoded authorization failure message: "},
		"a policy of the organization, on a tag": {underPolicy(tagged), untagged, false, "UnauthorizedOperation", "with an explicit deny in a service control policy"},
		"the tag that it wants":                  {underPolicy(tagged), usual, false, "", ""},
		"a policy of the organization, on the fleet": {underPolicy(`{"Statement":{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}}`), usual,
			true, "UnauthorizedOperation",
			"ec2:CreateFleet on resource: arn:aws:ec2:us-west-2:111122223333:fleet/* with an explicit deny in a service control policy"},
		"the role's own policy denies": {own(`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:subnet/*"}]}`), usual, false, "UnauthorizedOperation",
			"ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:subnet/" + fleetSubnetA + " with an explicit deny in an identity-based policy"},
		"the role's own policy is silent": {own(`{"Statement":[{"Effect":"Allow","Action":"ec2:Run*","Resource":"*"}]}`), usual, true, "UnauthorizedOperation",
			"because no identity-based policy allows the ec2:CreateFleet action"},
		"no tags": {own(`{"Statement":[{"Effect":"Allow","Action":["ec2:RunInstances","ec2:CreateFleet","iam:PassRole"],"Resource":"*"}]}`), usual, true, "UnauthorizedOperation",
			"ec2:CreateTags on resource: arn:aws:ec2:us-west-2:111122223333:fleet/* because no identity-based policy allows the ec2:CreateTags action"},
		"the role of the nodes may not be passed": {own(`{"Statement":[{"Effect":"Allow","Action":"ec2:*","Resource":"*"}]}`), usual, false, "UnauthorizedOperation",
			"iam:PassRole on resource: arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole because no identity-based policy allows the iam:PassRole action"},
		"the boundary is silent": {both(own(mayAll), func(f *worldfile.File) {
			f.IAM.Policies = append(f.IAM.Policies, iamtypes.ManagedPolicyDetail{Arn: aws.String("arn:aws:iam::111122223333:policy/edge"),
				PolicyName: aws.String("edge"), PolicyVersionList: []iamtypes.PolicyVersion{{IsDefaultVersion: true, VersionId: aws.String("v1"),
					Document: aws.String(`{"Statement":[{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}]}`)}}})
			f.IAM.Roles[len(f.IAM.Roles)-1].PermissionsBoundary = &iamtypes.AttachedPermissionsBoundary{PermissionsBoundaryArn: aws.String("arn:aws:iam::111122223333:policy/edge")}
		}), usual, true, "UnauthorizedOperation", "because no permissions boundary allows the ec2:CreateFleet action"},
		"no capacity": {withoutCapacity("m5.large"), usual, false, "InsufficientInstanceCapacity",
			"We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a)."},
		"no Spot capacity": {withoutCapacity("m5.large"), fleetOf(1, "spot", "m5.large "+fleetSubnetA), false, "InsufficientInstanceCapacity",
			"There is no Spot capacity available that matches your request."},
		"the Spot quota": {func(f *worldfile.File) { f.Spot.VCPULimit = 1 }, fleetOf(1, "spot", "m5.large "+fleetSubnetA), false,
			"MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"},
		"the quota on demand": {func(f *worldfile.File) { f.EC2.VCPULimit = 1 }, usual, false, "VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of 1 allows"},
		"another architecture": {func(*worldfile.File) {}, noImage, false, "InvalidParameterValue",
			"The architecture 'arm64' of the specified instance type does not match the architecture 'x86_64' of the specified AMI."},
		"no such template": {func(*worldfile.File) {}, noTemplate, true, "InvalidLaunchTemplateName.NotFoundException",
			"The specified launch template, with template name karpenter.k8s.aws/1, does not exist."},
		"nothing": {func(*worldfile.File) {}, usual, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := fleetWorld(t, test.change)
			before := len(w.Instances.All())
			out, err := asCaller(w, test.in)
			var code, says string
			var whole *wire.Error
			switch {
			case errors.As(err, &whole):
				code, says = whole.Code, whole.Message
			case err != nil:
				t.Fatal(err)
			case len(out.Errors) > 0:
				code, says = *out.Errors[0].ErrorCode, *out.Errors[0].ErrorMessage
			}
			if code != test.code || !strings.Contains(says, test.says) || (whole != nil) != test.whole {
				t.Errorf("%s: %s; the call fails: %v", code, says, whole != nil)
			}
			if started := len(w.Instances.All()) - before; (started == 1) != (test.code == "") {
				t.Errorf("%d instances were started", started)
			}
		})
	}
}

// One call brings as many as there are, of the types and subnets that have them, and
// has an error for each of the others once.
func TestFleetIsPartlyServed(t *testing.T) {
	w, _ := fleetWorld(t, func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools,
			worldfile.PoolFile{Type: "m5.large", Zone: "us-west-2a", OnDemand: true, Capacity: aws.Int(3)}, // one of them runs
			worldfile.PoolFile{Type: "m5.large", Zone: "us-west-2b", OnDemand: true, Capacity: aws.Int(4)})
	})
	out, err := asCaller(w, fleetOf(10, "on-demand", "m5.large "+fleetSubnetA, "m5.large "+fleetSubnetB, "m5.large "+fleetSubnetA))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range out.Instances {
		got = append(got, fmt.Sprintf("%d %s %s %s", len(i.InstanceIds), i.InstanceType, *i.LaunchTemplateAndOverrides.Overrides.AvailabilityZone, i.Lifecycle))
	}
	for _, e := range out.Errors {
		got = append(got, *e.ErrorCode+" "+*e.LaunchTemplateAndOverrides.Overrides.AvailabilityZone)
	}
	if diff := cmp.Diff([]string{"2 m5.large us-west-2a on-demand", "3 m5.large us-west-2b on-demand", "InsufficientInstanceCapacity us-west-2a",
		"InsufficientInstanceCapacity us-west-2b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in := w.Instances.Get(out.Instances[0].InstanceIds[0])
	var tags []string
	for _, tag := range in.Tags {
		tags = append(tags, *tag.Key)
	}
	slices.Sort(tags)
	if diff := cmp.Diff([]string{"aws:ec2:fleet-id", "aws:ec2launchtemplate:id", "aws:ec2launchtemplate:version", "cost-center", "eks:eks-cluster-name",
		"karpenter.k8s.aws/ec2nodeclass", "karpenter.sh/nodepool", "kubernetes.io/cluster/eks-workshop"}, tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}

// What the CLI prints, version 1 and 2, goes in as it is.
const pasted = `{
  "name": "pasted", "time": "2026-11-20T15:00:00+00:00", "account": 111122223333, "region": "eu-west-1",
  "ec2": {
    "Vpcs": [{"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "State": "available", "IsDefault": false}],
    "Subnets": [{"SubnetId": "subnet-1", "VpcId": "vpc-1", "CidrBlock": "10.0.1.0/24", "AvailabilityZone": "eu-west-1b", "AvailableIpAddressCount": 200}],
    "Reservations": [{"ReservationId": "r-1", "OwnerId": "111122223333", "Groups": [], "Instances": [{
      "InstanceId": "i-1", "InstanceType": "m5.large", "State": {"Code": 16, "Name": "running"}, "SubnetId": "subnet-1",
      "LaunchTime": "2026-11-20T14:00:00.000Z", "PrivateIpAddress": "10.0.1.40", "Placement": {"AvailabilityZone": "eu-west-1b"},
      "NetworkInterfaces": [{"NetworkInterfaceId": "eni-1", "SubnetId": "subnet-1", "PrivateIpAddress": "10.0.1.40", "Status": "in-use",
        "Attachment": {"AttachTime": 1763647200.0, "AttachmentId": "eni-attach-1", "DeviceIndex": 0, "DeleteOnTermination": true, "Status": "attached"},
        "PrivateIpAddresses": [{"Primary": true, "PrivateIpAddress": "10.0.1.40"}, {"Primary": false, "PrivateIpAddress": "10.0.1.41"}]}]
    }]}]
  },
  "iam": {"Roles": [{"RoleName": "node", "AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow"}]}}]}
}`

func TestPastedOutput(t *testing.T) {
	f, err := worldfile.Parse("pasted.json", []byte(pasted))
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Account(); got != "111122223333" {
		t.Errorf("account: got %q", got)
	}
	enis := w.InterfacesOf("i-1")
	if len(enis) != 1 || *enis[0].NetworkInterfaceId != "eni-1" || len(enis[0].PrivateIpAddresses) != 2 {
		t.Errorf("interfaces of i-1: got %d", len(enis))
	}
	if got := w.Pools["subnet-1"].Free(); got != 200 {
		t.Errorf("free: got %d, want the 200 that were stated", got)
	}
	r, err := w.IAM().GetRole(&iam.GetRoleInput{RoleName: aws.String("node")})
	if err != nil {
		t.Fatal(err)
	}
	// IAM's API carries documents URL-encoded.
	if got, want := *r.Role.AssumeRolePolicyDocument, "%7B%22Statement%22:%5B%7B%22Effect%22:%22Allow%22%7D%5D%7D"; got != want {
		t.Errorf("document: got %q, want %q", got, want)
	}
}

func TestNewRefusesBrokenReferences(t *testing.T) {
	tests := map[string]struct{ yaml, want string }{
		"no time":        {"name: x", "no time"},
		"unknown VPC":    {"time: 2026-11-20T15:00:00Z\nec2: {Subnets: [{SubnetId: s, VpcId: v, CidrBlock: 10.0.0.0/24}]}", `VPC "v" is not in the world`},
		"listed twice":   {"time: 2026-11-20T15:00:00Z\nec2: {Vpcs: [{VpcId: v}, {VpcId: v}]}", "v is listed twice"},
		"no id":          {"time: 2026-11-20T15:00:00Z\nec2: {Vpcs: [{CidrBlock: 10.0.0.0/16}]}", "ec2.Vpcs[0] has no id"},
		"unknown call":   {"time: 2026-11-20T15:00:00Z\ntimeline: [{at: 1s, call: \"ec2:MakeRoute\"}]", `has no operation "MakeRoute"`},
		"unknown input":  {"time: 2026-11-20T15:00:00Z\ntimeline: [{at: 1s, call: \"ec2:CreateRoute\", with: {RouteTable: x}}]", "ec2:CreateRoute.RouteTable: unknown field"},
		"joined nothing": {"time: 2026-11-20T15:00:00Z\neks: {clusters: [{name: c}]}\nkubernetes: {c: {joined: [i-1]}}", "i-1 is not an instance of this cluster"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := worldfile.Parse("w.yaml", []byte(tt.yaml))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := New(f, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Whatever a file holds, reading it ends in a world or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(pasted))
	f.Add([]byte("name: x\ntime: 2026-11-20T15:00:00Z\nnodes: {exceptions: [{ends: {after: 5s}}]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("time: 99999999999999999999\nec2: {Subnets: [{CidrBlock: 10.0.0.0/33}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := worldfile.Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		if w, err := New(file, Options{}); err == nil {
			w.Advance(w.Start().Add(time.Minute))
		}
	})
}

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

// code is the code of an API error, empty for none.
func code(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var we *wire.Error
	if !errors.As(err, &we) {
		t.Fatalf("got %v, want an API error", err)
	}
	return we.Code
}

func TestFilters(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	tables := func(name string, values ...string) ([]string, error) {
		out, err := api.DescribeRouteTables(&ec2.DescribeRouteTablesInput{Filters: []ec2types.Filter{{Name: aws.String(name), Values: values}}})
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, r := range out.RouteTables {
			ids = append(ids, *r.RouteTableId)
		}
		return ids, nil
	}
	tests := []struct {
		filter string
		values []string
		want   []string
	}{
		{"association.subnet-id", []string{storySubnet}, []string{storyTable}},
		{"association.subnet-id", []string{"subnet-0b20000000000000*"}, []string{"rtb-0b200000000000abc"}},
		{"association.main", []string{"true"}, []string{"rtb-0a700000000000001"}},
		{"route.nat-gateway-id", []string{storyNAT}, []string{"rtb-0b200000000000abc"}},
		{"tag:Name", []string{"workshop-*"}, []string{storyTable}},
		{"tag-key", []string{"Name"}, []string{storyTable}},
		{"vpc-id", []string{"vpc-none"}, nil},
	}
	for _, tt := range tests {
		got, err := tables(tt.filter, tt.values...)
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
		}
		if diff := cmp.Diff(got, tt.want); diff != "" {
			t.Errorf("%s %q (-got +want):\n%s", tt.filter, tt.values, diff)
		}
	}
	_, err := tables("association.subnetid", "x")
	if got := code(t, err); got != "InvalidParameterValue" {
		t.Errorf("unknown filter: got %q, want InvalidParameterValue", got)
	}
}

func TestUnknownIDs(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	tests := map[string]struct {
		call func() error
		want string
	}{
		"subnet": {func() error {
			_, err := api.DescribeSubnets(&ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-x"}})
			return err
		}, "InvalidSubnetID.NotFound"},
		"table": {func() error {
			_, err := api.DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{"rtb-x"}})
			return err
		}, "InvalidRouteTableID.NotFound"},
		"interface": {func() error {
			_, err := api.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"eni-x"}})
			return err
		}, "InvalidNetworkInterfaceID.NotFound"},
		"instance": {func() error {
			_, err := api.DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{"i-x"}})
			return err
		}, "InvalidInstanceID.NotFound"},
		"nat": {func() error {
			_, err := api.DescribeNatGateways(&ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{"nat-x"}})
			return err
		}, "NatGatewayNotFound"},
		"type": {func() error {
			_, err := api.DescribeInstanceTypes(&ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m5.huge"}})
			return err
		}, "InvalidInstanceType"},
		"ids with a page size": {func() error {
			_, err := api.DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{"i-0d0000000000000a1"}, MaxResults: aws.Int32(5)})
			return err
		}, "InvalidParameterCombination"},
		"page too small": {func() error {
			_, err := api.DescribeSubnets(&ec2.DescribeSubnetsInput{MaxResults: aws.Int32(4)})
			return err
		}, "InvalidParameterValue"},
		"bad token": {func() error {
			_, err := api.DescribeSubnets(&ec2.DescribeSubnetsInput{NextToken: aws.String("x")})
			return err
		}, "InvalidNextToken"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := code(t, tt.call()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPages(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	for i := range 12 {
		if _, err := api.CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(storySubnet), Description: aws.String(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	want := []ec2types.Filter{{Name: aws.String("subnet-id"), Values: []string{storySubnet}}}
	var got, sizes []string
	in := &ec2.DescribeNetworkInterfacesInput{Filters: want, MaxResults: aws.Int32(5)}
	for {
		out, err := api.DescribeNetworkInterfaces(in)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, fmt.Sprint(len(out.NetworkInterfaces)))
		for _, n := range out.NetworkInterfaces {
			got = append(got, *n.Description)
		}
		if out.NextToken == nil {
			break
		}
		in.NextToken = out.NextToken
	}
	if diff := cmp.Diff(sizes, []string{"5", "5", "2"}); diff != "" {
		t.Errorf("page sizes (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(got, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}); diff != "" {
		t.Errorf("order (-got +want):\n%s", diff)
	}
}

func TestAnswersAreCopies(t *testing.T) {
	w, _ := open(t, "route")
	get := func() *ec2types.RouteTable {
		out, err := w.EC2().DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{storyTable}})
		if err != nil {
			t.Fatal(err)
		}
		return &out.RouteTables[0]
	}
	first := get()
	*first.VpcId = "changed"
	first.Routes[0].State = ec2types.RouteStateBlackhole
	if second := get(); *second.VpcId == "changed" || second.Routes[0].State != ec2types.RouteStateActive {
		t.Error("a caller's change of an answer changed the world")
	}
}
