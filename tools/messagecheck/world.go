package messagecheck

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/stage/simaws/world"
)

// World is what a message may be about, asked of the world itself.
type World struct {
	// Free are the free addresses of each subnet.
	Free map[string]int
	// Launched is when each instance was, Alive those that have not ended.
	Launched map[string]time.Time
	Alive    map[string]bool
	// Ready are the instances that are Ready nodes.
	Ready map[string]bool
	// Cordoned counts the nodes of each zone that take no new pods.
	Cordoned map[string]int
	// Groups are the Auto Scaling groups by name, and by the nodegroup that they are of.
	Groups map[string][]Group
	// Image, Type and Subnet are an instance's.
	Image, Type, Subnet map[string]string
	// Types are how many interfaces types have, addresses each, and network cards.
	Types map[string][3]int
	// Left is what nodes that ended left behind in each subnet.
	Left    map[string]Remains
	Account string
	// Now is the time in it.
	Now time.Time
}

// Group is an Auto Scaling group.
type Group struct {
	Name         string
	Desired, Max int
	Zones        []string
	Instances    []string
}

// Of looks at a world.
func Of(w *world.World) (World, error) {
	of := World{
		Account: w.Account(), Now: w.Now(), Free: map[string]int{}, Launched: map[string]time.Time{}, Alive: map[string]bool{}, Ready: map[string]bool{}, Cordoned: map[string]int{},
		Image: map[string]string{}, Type: map[string]string{}, Subnet: map[string]string{},
		Groups: map[string][]Group{}, Types: map[string][3]int{}, Left: map[string]Remains{},
	}
	subnets, err := w.EC2().DescribeSubnets(&ec2.DescribeSubnetsInput{})
	if err != nil {
		return World{}, fmt.Errorf("describe the subnets: %w", err)
	}
	for _, s := range subnets.Subnets {
		of.Free[aws.ToString(s.SubnetId)] = int(aws.ToInt32(s.AvailableIpAddressCount))
	}
	instances, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{})
	if err != nil {
		return World{}, fmt.Errorf("describe the instances: %w", err)
	}
	for _, r := range instances.Reservations {
		for _, in := range r.Instances {
			id := aws.ToString(in.InstanceId)
			of.Image[id], of.Type[id], of.Subnet[id] = aws.ToString(in.ImageId), string(in.InstanceType), aws.ToString(in.SubnetId)
			of.Launched[id] = aws.ToTime(in.LaunchTime)
			of.Alive[id] = in.State.Name == "running" || in.State.Name == "pending"
		}
	}
	groups, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{})
	if err != nil {
		return World{}, fmt.Errorf("describe the groups: %w", err)
	}
	for _, g := range groups.AutoScalingGroups {
		group := Group{Name: aws.ToString(g.AutoScalingGroupName), Desired: int(aws.ToInt32(g.DesiredCapacity)), Max: int(aws.ToInt32(g.MaxSize)), Zones: g.AvailabilityZones}
		for _, in := range g.Instances {
			group.Instances = append(group.Instances, aws.ToString(in.InstanceId))
		}
		names := map[string]bool{aws.ToString(g.AutoScalingGroupName): true}
		for _, t := range g.Tags {
			if aws.ToString(t.Key) == "eks:nodegroup-name" {
				names[aws.ToString(t.Value)] = true
			}
		}
		for name := range names {
			of.Groups[name] = append(of.Groups[name], group)
		}
	}
	if err := of.network(w); err != nil {
		return World{}, err
	}
	return of, of.nodes(w)
}

// network counts what types take of it, and what is left behind in it.
func (of World) network(w *world.World) error {
	types, err := w.EC2().DescribeInstanceTypes(&ec2.DescribeInstanceTypesInput{})
	if err != nil {
		return fmt.Errorf("describe the types: %w", err)
	}
	for _, t := range types.InstanceTypes {
		if t.NetworkInfo != nil {
			of.Types[string(t.InstanceType)] = [3]int{int(aws.ToInt32(t.NetworkInfo.MaximumNetworkInterfaces)), int(aws.ToInt32(t.NetworkInfo.Ipv4AddressesPerInterface)), int(aws.ToInt32(t.NetworkInfo.MaximumNetworkCards))}
		}
	}
	interfaces, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{})
	if err != nil {
		return fmt.Errorf("describe the interfaces: %w", err)
	}
	for _, n := range interfaces.NetworkInterfaces {
		owner := ""
		for _, t := range n.TagSet {
			if aws.ToString(t.Key) == "node.k8s.amazonaws.com/instance_id" {
				owner = aws.ToString(t.Value)
			}
		}
		if n.Status != "available" || owner == "" || of.Alive[owner] {
			continue
		}
		l := of.Left[aws.ToString(n.SubnetId)]
		if l.Owners == nil {
			l.Owners = map[string]bool{}
		}
		l.Interfaces++
		l.Owners[owner] = true
		l.Addresses += len(n.PrivateIpAddresses)
		for _, p := range n.Ipv4Prefixes {
			l.Addresses += block(aws.ToString(p.Ipv4Prefix))
		}
		of.Left[aws.ToString(n.SubnetId)] = l
	}
	return nil
}

func (of World) nodes(w *world.World) error {
	for _, cluster := range w.Clusters() {
		list, err := w.Kubernetes(cluster, "nodes")
		if err != nil {
			return fmt.Errorf("list the nodes of %s: %w", cluster, err)
		}
		for _, raw := range list.Items {
			var n struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct {
					ProviderID    string
					Unschedulable bool
					Taints        []struct{ Key string }
				}
				Status struct {
					Conditions []struct{ Type, Status string }
				}
			}
			if err := json.Unmarshal(raw, &n); err != nil {
				return fmt.Errorf("read a node: %w", err)
			}
			if n.Spec.Unschedulable {
				of.Cordoned[n.Metadata.Labels["topology.kubernetes.io/zone"]]++
			}
			ready := false
			for _, c := range n.Status.Conditions {
				ready = ready || c.Type == "Ready" && c.Status == "True"
			}
			for _, t := range n.Spec.Taints {
				ready = ready && t.Key != "node.cloudprovider.kubernetes.io/uninitialized"
			}
			of.Ready[n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]] = ready
		}
	}
	return nil
}

var (
	hasFree   = regexp.MustCompile(`\b(subnet-[0-9a-f]+)\b(?: \([^)]*\))? has ([\d,]+) free address`)
	firstID   = regexp.MustCompile(`\bfirst (i-[0-9a-f]+)`)
	justOne   = regexp.MustCompile(`, (i-[0-9a-f]+)(?: in |\.)`)
	instances = regexp.MustCompile(`\bi-[0-9a-f]{8,17}\b`)
)

// Against are what a message of an open incident says against the world at the time of
// its look. Affected are the instances that the look told of.
func (of World) Against(blocks []byte, affected []string) ([]string, error) {
	lines, err := Read(blocks)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	out := 0
	for _, id := range affected {
		if !of.Ready[id] {
			out++
		}
	}
	for n, l := range lines {
		if l.Copied {
			continue
		}
		for _, m := range hasFree.FindAllStringSubmatch(l.Text, -1) {
			if is, known := of.Free[m[1]]; known && is != amount(m[2]) {
				say("%q, and it has %d", m[0], is)
			}
		}
		if m := standsOut.FindStringSubmatch(l.Text); n == 0 && m != nil && amount(m[1]) != out {
			say("%q, and %d of those affected are no Ready nodes", m[0], out)
		}
		if l.Label != "Impact" && l.Label != "Since" {
			continue
		}
		if m := notReady.FindStringSubmatch(l.Text); m != nil && amount(m[1]) != out {
			say("%q, and %d of those affected are no Ready nodes", m[0], out)
		}
		if m := missing.FindStringSubmatch(l.Text); m != nil {
			found = append(found, of.capacity(lines[0].Text, m)...)
		}
		first := firstID.FindStringSubmatch(l.Text)
		if first == nil {
			first = justOne.FindStringSubmatch(l.Text)
		}
		if first != nil {
			found = append(found, of.first(l, first[1], affected)...)
		}
		for _, at := range l.Times {
			if at.After(of.Now) {
				say("since %s is in the future of the look at %s", at.Format(time.TimeOnly), of.Now.Format(time.TimeOnly))
			}
		}
	}
	for _, id := range instances.FindAllString(lines[0].Text, -1) {
		if _, known := of.Launched[id]; !known && len(of.Launched) > 0 {
			say("%s is in the first line and not in the world", id)
		}
	}
	return found, nil
}

// capacity holds what is said of the groups that the first line names.
func (of World) capacity(top string, m []string) []string {
	place, _, _ := strings.Cut(top, " · ")
	_, names, named := strings.Cut(place, " / ")
	if !named || strings.Contains(names, " more") {
		return nil
	}
	desired, ready := 0, 0
	for _, name := range strings.Split(strings.ReplaceAll(names, " and ", ", "), ", ") {
		groups := of.Groups[name]
		if begins, cut := strings.CutSuffix(name, "…"); cut {
			for full, list := range of.Groups {
				if strings.HasPrefix(full, begins) {
					groups = list
				}
			}
		}
		if len(groups) == 0 {
			return []string{fmt.Sprintf("%q, and there is no group %s", m[0], name)}
		}
		for _, g := range groups {
			desired += g.Desired
			for _, id := range g.Instances {
				if of.Ready[id] {
					ready++
				}
			}
		}
	}
	if amount(m[2]) != desired || amount(m[1]) != desired-ready {
		return []string{fmt.Sprintf("%q, and %d are desired, %d Ready", m[0], desired, ready)}
	}
	return nil
}

// first holds that the instance that is named first is that, and that it began with it
// or later: what is wrong may be seen later than the launch.
func (of World) first(l Line, id string, affected []string) []string {
	at, known := of.Launched[id]
	if !known || len(l.Times) == 0 {
		return nil
	}
	for _, other := range affected {
		if when, known := of.Launched[other]; known && !of.Ready[other] && when.Before(at) {
			return []string{fmt.Sprintf("%s is not the first, %s was launched at %s", id, other, when.Format(time.TimeOnly))}
		}
	}
	if l.Times[0].After(at) {
		return []string{fmt.Sprintf("since %s, and %s was launched at %s", l.Times[0].Format(time.TimeOnly), id, at.Format(time.TimeOnly))}
	}
	return nil
}
