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

	"rollcall/local/simaws/world"
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
	// Groups are the Auto Scaling groups by name, and by the nodegroup that they are of.
	Groups map[string][]Group
	// Now is the time in it.
	Now time.Time
}

// Group is an Auto Scaling group.
type Group struct {
	Desired   int
	Instances []string
}

// Of looks at a world.
func Of(w *world.World) (World, error) {
	of := World{Free: map[string]int{}, Launched: map[string]time.Time{}, Alive: map[string]bool{}, Ready: map[string]bool{}, Groups: map[string][]Group{}, Now: w.Now()}
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
			of.Launched[id] = aws.ToTime(in.LaunchTime)
			of.Alive[id] = in.State.Name == "running" || in.State.Name == "pending"
		}
	}
	groups, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{})
	if err != nil {
		return World{}, fmt.Errorf("describe the groups: %w", err)
	}
	for _, g := range groups.AutoScalingGroups {
		group := Group{Desired: int(aws.ToInt32(g.DesiredCapacity))}
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
	return of, of.nodes(w)
}

func (of World) nodes(w *world.World) error {
	for _, cluster := range w.Clusters() {
		list, err := w.Kubernetes(cluster, "nodes")
		if err != nil {
			return fmt.Errorf("list the nodes of %s: %w", cluster, err)
		}
		for _, raw := range list.Items {
			var n struct {
				Spec struct {
					ProviderID string
					Taints     []struct{ Key string }
				}
				Status struct {
					Conditions []struct{ Type, Status string }
				}
			}
			if err := json.Unmarshal(raw, &n); err != nil {
				return fmt.Errorf("read a node: %w", err)
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
	if !named || strings.Contains(names, " more") || strings.Contains(names, "…") {
		return nil
	}
	desired, ready := 0, 0
	for _, name := range strings.Split(strings.ReplaceAll(names, " and ", ", "), ", ") {
		if len(of.Groups[name]) == 0 {
			return []string{fmt.Sprintf("%q, and there is no group %s", m[0], name)}
		}
		for _, g := range of.Groups[name] {
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
