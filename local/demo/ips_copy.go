package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/bench/peers/script"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
)

// worldEC2 is a world's EC2 as the SDK's client has it.
type worldEC2 struct{ api world.API }

func (e worldEC2) DescribeNetworkInterfaces(_ context.Context, in *ec2.DescribeNetworkInterfacesInput, _ ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	return e.api.DescribeNetworkInterfaces(in)
}

func (e worldEC2) DeleteNetworkInterface(_ context.Context, in *ec2.DeleteNetworkInterfaceInput, _ ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	return e.api.DeleteNetworkInterface(in)
}

// copied is the ips story's world, played without Rollcall to the moment at
// which the subnet is full and a further node starts elsewhere.
func copied(path string) (*world.World, error) {
	file, err := worldfile.Load(path)
	if err != nil {
		return nil, err
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return nil, err
	}
	scale := func(nodegroup string, n int) error {
		in, err := json.Marshal(map[string]any{"clusterName": cluster, "nodegroupName": nodegroup, "scalingConfig": map[string]int{"desiredSize": n}})
		if err == nil {
			_, err = w.Call("eks:UpdateNodegroupConfig", in)
		}
		return err
	}
	for range ipsRounds {
		for _, n := range []int{ipsNodes, 0} {
			if err := scale(ipsGroup, n); err != nil {
				return nil, err
			}
			w.Advance(w.Now().Add(ipsPause))
		}
	}
	if err := scale(ipsGroup, ipsShortage); err != nil {
		return nil, err
	}
	w.Advance(w.Now().Add(ipsPause))
	if err := scale("web", 1); err != nil {
		return nil, err
	}
	for range 600 {
		w.Advance(w.Now().Add(time.Second))
		for _, eni := range available(w) {
			if starting(w, eni) {
				return w, nil
			}
		}
	}
	return nil, fmt.Errorf("no interface is being attached in %s", file.Name)
}

func available(w *world.World) []types.NetworkInterface {
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{
		{Name: aws.String("status"), Values: []string{"available"}}, {Name: aws.String("description"), Values: []string{"aws-K8S-*"}},
	}})
	if err != nil {
		return nil
	}
	return out.NetworkInterfaces
}

// ownerOf is how EC2 says that an interface's node is; empty for one that it
// does not know.
func ownerOf(w *world.World, eni types.NetworkInterface) types.InstanceStateName {
	id := tagOf(eni, "node.k8s.amazonaws.com/instance_id")
	out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil || len(out.Reservations) == 0 {
		return ""
	}
	return out.Reservations[0].Instances[0].State.Name
}

func starting(w *world.World, eni types.NetworkInterface) bool {
	return tagOf(eni, "cluster.k8s.amazonaws.com/name") == cluster && ownerOf(w, eni) == types.InstanceStateNameRunning
}

func tagOf(eni types.NetworkInterface, key string) string {
	for _, t := range eni.TagSet {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

// toll is what the script deletes in the copy, by what it was.
type toll struct {
	what  string
	wrong bool
	count int
}

// tollOf plays the script on the copy.
func tollOf(ctx context.Context, w *world.World) ([]toll, error) {
	list := []toll{
		{what: "left behind by a node that is gone"},
		{what: "being attached to a node that starts", wrong: true},
		{what: "another cluster's, whose node runs", wrong: true},
		{what: "not the VPC CNI's, but described like its", wrong: true},
		{what: "of a node that is only stopped", wrong: true},
	}
	kinds := map[string]int{} // by interface: after the delete nothing tells
	for _, eni := range available(w) {
		kinds[aws.ToString(eni.NetworkInterfaceId)] = kindOf(w, eni)
	}
	r, err := script.Run(ctx, worldEC2{w.API()})
	if err != nil {
		return nil, err
	}
	for _, eni := range r.Deleted {
		list[kinds[aws.ToString(eni.NetworkInterfaceId)]].count++
	}
	return list, nil
}

// kindOf is the place of an interface in the toll.
func kindOf(w *world.World, eni types.NetworkInterface) int {
	switch {
	case tagOf(eni, "node.k8s.amazonaws.com/instance_id") == "":
		return 3
	case tagOf(eni, "cluster.k8s.amazonaws.com/name") != cluster:
		return 2
	case ownerOf(w, eni) == types.InstanceStateNameStopped:
		return 4
	case starting(w, eni):
		return 1
	}
	return 0
}
