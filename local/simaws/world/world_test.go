package world

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/worldfile"
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
	if got := told(t, *events, "EC2 Instance Launch Successful"); len(got) != 1 {
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
