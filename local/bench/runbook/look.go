package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/bench/runbook/automation"
	"rollcall/local/simaws"
	"rollcall/local/simaws/reach"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// settled is when a world is looked at: as rollcall diagnose does.
const settled = 12 * time.Minute

// joinTime is how long an instance may take before its console is read.
const joinTime = 5 * time.Minute

// look runs the model over a world, over the wire with real SDK clients, with
// the rights of an administrator.
func look(ctx context.Context, path string) (row, error) {
	file, err := worldfile.Load(path)
	if err != nil {
		return row{}, fmt.Errorf("load the world: %w", err)
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return row{}, fmt.Errorf("make the world: %w", err)
	}
	w.Advance(w.Start().Add(settled))
	admin := simaws.AdminIdentity(file.Account, "admin")
	c, err := simaws.Start(ctx, simaws.Config{
		Account: file.Account, Region: file.Region, World: w.API(),
		Identities: []simaws.Identity{admin}, Endpoints: true, Now: w.Now, Wall: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return row{}, fmt.Errorf("serve the world: %w", err)
	}
	defer c.Close()
	r := gather.New(aws.Config{
		Region: file.Region, BaseEndpoint: aws.String(c.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider(admin.AccessKeyID, admin.SecretAccessKey, ""),
	})
	out := row{name: strings.TrimSuffix(filepath.Base(path), ".yaml"), check: file.Check, expect: file.Expect}
	for _, cluster := range w.Clusters() {
		reports, err := runs(ctx, r, w, file, cluster)
		if err != nil {
			return row{}, fmt.Errorf("cluster %s: %w", cluster, err)
		}
		out.runs = append(out.runs, reports...)
		own, err := wordsOf(w, cluster)
		if err != nil {
			return row{}, fmt.Errorf("cluster %s: %w", cluster, err)
		}
		out.own.health, out.own.conditions = append(out.own.health, own.health...), append(out.own.conditions, own.conditions...)
	}
	return out, nil
}

// runs is one run of the runbook for each instance that a person would name to
// it.
func runs(ctx context.Context, r *gather.Reader, w *world.World, file *worldfile.File, cluster string) ([]automation.Report, error) {
	instances, failed := r.FindTaggedAll(ctx, cluster)
	if failed != nil {
		return nil, fmt.Errorf("instances: %s", failed.Message)
	}
	q := gather.Query{Account: file.Account, Region: file.Region, Time: w.Now(), Cluster: cluster, AllNodegroups: true}
	s, err := r.Read(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	more, failed := r.FindIn(ctx, s.Cluster.VPC)
	if failed != nil {
		return nil, fmt.Errorf("instances: %s", failed.Message)
	}
	for _, in := range more {
		if !slices.ContainsFunc(instances, func(x snapshot.Instance) bool { return x.ID == in.ID }) && meant(in, cluster, file.Expect) {
			instances = append(instances, in)
		}
	}
	ready, err := readyNodes(w, cluster)
	if err != nil {
		return nil, err
	}
	named := choose(instances, ready, file.Expect)
	if len(named) == 0 {
		return nil, nil
	}
	q.Instances, q.Scope.Instances, q.Sources = named, ids(named), fromAWS()
	for _, in := range named {
		q.Launches = append(q.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: in.Launched, Due: in.Launched.Add(joinTime)})
	}
	if s, err = r.Read(ctx, q); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	var reports []automation.Report
	for _, in := range named {
		subject := automation.Subject{Account: s, Node: in, Ready: ready[in.ID]}
		if subject.Secondary, err = secondary(w, in.ID); err != nil {
			return nil, err
		}
		if !subject.Ready {
			subject.Unreachable = unreachable(w.Paths(in.ID))
		}
		reports = append(reports, automation.Run(subject))
	}
	return reports, nil
}

func unreachable(paths []reach.Path) []string {
	var services []string
	for _, p := range paths {
		if p.Fault != "" && p.Service != "access" {
			services = append(services, p.Service)
		}
	}
	return services
}

// secondary counts the addresses of an instance's interfaces beside their
// primary ones.
func secondary(w *world.World, instance string) (int, error) {
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{
		Filters: []ec2types.Filter{{Name: aws.String("attachment.instance-id"), Values: []string{instance}}},
	})
	if err != nil {
		return 0, fmt.Errorf("interfaces of %s: %w", instance, err)
	}
	n := 0
	for _, i := range out.NetworkInterfaces {
		n += max(0, len(i.PrivateIpAddresses)-1) + len(i.Ipv4Prefixes) + len(i.Ipv6Prefixes)
	}
	return n, nil
}

// choose are the instances that a person would run the runbook on: those that
// are no Ready nodes. Where all are, or should not be nodes yet, it is the
// newest Ready one. Where the cause is one of a launch, that has nothing to
// tell.
func choose(instances []snapshot.Instance, ready map[string]bool, e worldfile.Expect) []snapshot.Instance {
	var up, down []snapshot.Instance
	for _, in := range instances {
		if ready[in.ID] {
			up = append(up, in)
		} else {
			down = append(down, in)
		}
	}
	if len(up) == 0 || len(down) > 0 && !e.Healthy {
		return down
	}
	if len(e.Incidents) > 0 {
		if group, _, _ := strings.Cut(e.Incidents[0].Cause, "/"); group == "launch" || group == "ip" || group == "nodegroup" {
			return nil
		}
	}
	return []snapshot.Instance{slices.MaxFunc(up, func(a, b snapshot.Instance) int {
		return cmp.Or(a.Launched.Compare(b.Launched), cmp.Compare(a.ID, b.ID))
	})}
}

// meant tells that an instance without the cluster's tag is still one of its
// nodes to the person who asks.
func meant(in snapshot.Instance, cluster string, e worldfile.Expect) bool {
	if of, ok := gather.ClusterOf(in.Tags); ok {
		return of == cluster
	}
	return slices.ContainsFunc(e.Incidents, func(i worldfile.ExpectedIncident) bool { return slices.Contains(i.Resources, in.ID) })
}

func ids(list []snapshot.Instance) []string {
	out := make([]string, 0, len(list))
	for _, in := range list {
		out = append(out, in.ID)
	}
	return out
}

// fromAWS are the sources that the runbook has: it does not ask Kubernetes.
func fromAWS() []snapshot.Source {
	return slices.DeleteFunc(snapshot.All(), func(s snapshot.Source) bool {
		switch s {
		case snapshot.Nodes, snapshot.AWSNode, snapshot.Pods, snapshot.AWSAuthMap, snapshot.CSRs, snapshot.NodeEventsOf, snapshot.Instances, snapshot.Clusters:
			return true
		}
		return false
	})
}

// readyNodes are the instances that are Ready nodes of a cluster.
func readyNodes(w *world.World, cluster string) (map[string]bool, error) {
	list, err := w.Kubernetes(cluster, "nodes")
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	ready := map[string]bool{}
	for _, item := range list.Items {
		var n struct {
			Spec   struct{ ProviderID string }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := json.Unmarshal(item, &n); err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				ready[filepath.Base(n.Spec.ProviderID)] = true
			}
		}
	}
	return ready, nil
}
