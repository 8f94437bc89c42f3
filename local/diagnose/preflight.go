package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"rollcall/local/reading"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/shared/checks"
	"rollcall/shared/gather"
	"rollcall/shared/preflight"
	"rollcall/shared/preflight/live"
	"rollcall/shared/report"
)

// ahead judges what is planned, in the account of the world or
// the capture.
func ahead(ctx context.Context, o options, notes io.Writer) (Result, error) {
	p, err := planOf(o)
	if err != nil {
		return Result{}, err
	}
	a, err := openAccount(o, notes)
	if err != nil {
		return Result{}, err
	}
	cluster, err := clusterFor(p, o.cluster, a.Clusters)
	if err != nil {
		return Result{}, err
	}
	reader, closing, err := a.Serve(ctx)
	if err != nil {
		return Result{}, err
	}
	defer closing()
	v, err := live.Judge(ctx, reader, p, live.Where{Account: a.ID, Region: a.Region, Cluster: cluster, Time: a.Now()})
	if err != nil {
		return Result{}, err
	}
	return foreseen(cluster, v), nil
}

// aheadLive judges what is planned, in the caller's account as it is.
func aheadLive(ctx context.Context, o options, notes io.Writer) (Result, error) {
	p, err := planOf(o)
	if err != nil {
		return Result{}, err
	}
	if name := cmp.Or(p.Cluster, o.cluster); name != "" {
		o.live.clusters = []string{name}
	} else {
		o.live.all = true
	}
	a := o.account(notes)
	end := waiting(notes, "looking", a.asked)
	defer end()
	if err := a.open(ctx); err != nil {
		return Result{}, err
	}
	var names []string
	for _, c := range a.clusters {
		names = append(names, c.Name)
	}
	cluster, err := clusterFor(p, o.cluster, names)
	if err != nil {
		return Result{}, err
	}
	reader := gather.New(a.once.Client(a.AWS)).WithEndpoints(a.endpoints)
	v, err := live.Judge(ctx, reader, p, live.Where{Account: a.Account, Region: a.AWS.Region, Cluster: cluster, Time: a.now()})
	if err != nil {
		return Result{}, err
	}
	return foreseen(cluster, v), nil
}

// planOf is what is to be judged: one of a file, a launch template and a subnet. The
// subnets of a launch template say where its nodes would stand.
func planOf(o options) (preflight.Plan, error) {
	subnets := strings.Split(o.subnets, ",")
	var p preflight.Plan
	var err error
	switch {
	case (o.preflight != "" || o.plan != "") && o.template != "":
		return p, misuse{errors.New("--file and --launch-template: one thing is judged at a time")}
	case o.plan != "":
		if p, err = preflight.Parse([]byte(o.plan)); err != nil {
			return p, misuse{fmt.Errorf("the plan: %w", err)}
		}
	case o.preflight != "":
		if p, err = readPlan(o.preflight); err != nil {
			return p, err
		}
	case o.template != "":
		if p, err = preflight.ParseTemplateRef(o.template); err != nil {
			return p, misuse{fmt.Errorf("--launch-template %w", err)}
		}
	case len(subnets) > 1:
		return p, misuse{errors.New("--subnet: one subnet is judged at a time; several say where the nodes of --launch-template would stand")}
	default:
		if p, err = preflight.ParseSubnet(o.subnets); err != nil {
			return p, misuse{fmt.Errorf("--subnet %w", err)}
		}
		return p, nil
	}
	if o.subnets == "" {
		return p, nil
	}
	if p.Kind != preflight.LaunchTemplate {
		return p, misuse{fmt.Errorf("--subnet: a %s names its subnets itself", p.Kind)}
	}
	for _, id := range subnets {
		if _, err := preflight.ParseSubnet(id); err != nil {
			return p, misuse{fmt.Errorf("--subnet %w", err)}
		}
	}
	p.In = subnets
	return p, nil
}

func readPlan(path string) (preflight.Plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return preflight.Plan{}, misuse{fmt.Errorf("--file %s: there is no such file, or it cannot be read", path)}
	}
	p, err := preflight.Parse(data)
	if err != nil {
		return p, misuse{fmt.Errorf("%s: %w", path, err)}
	}
	return p, nil
}

// clusterFor is the cluster that a plan is for: the one that it names, that
// -cluster names, or the only one.
func clusterFor(p preflight.Plan, asked string, there []string) (string, error) {
	if p.Cluster != "" && asked != "" && p.Cluster != asked {
		return "", misuse{fmt.Errorf("--cluster %s: the file is for %s", asked, p.Cluster)}
	}
	for _, name := range []string{p.Cluster, asked} {
		if name == "" {
			continue
		}
		if !slices.Contains(there, name) {
			return "", misuse{fmt.Errorf("there is no cluster %s here, only %s", name, strings.Join(there, ", "))}
		}
		return name, nil
	}
	if len(there) != 1 {
		return "", misuse{fmt.Errorf("for which cluster? --cluster names one of %s", strings.Join(there, ", "))}
	}
	return there[0], nil
}

// openAccount is the world or the capture as an account to be read.
func openAccount(o options, notes io.Writer) (reading.Account, error) {
	so := stage.Options{Settings: map[string]string{}}
	if err := open(o, &so, notes); err != nil {
		return reading.Account{}, err
	}
	if so.Capture != nil {
		return reading.OfCapture(so.Capture), nil
	}
	file, err := worldfile.Load(so.World)
	if err != nil {
		return reading.Account{}, misuse{fmt.Errorf("it is no world: %w", err)}
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return reading.Account{}, misuse{fmt.Errorf("it is no world: %w", err)}
	}
	w.Advance(so.At)
	return reading.OfWorld(w, file), nil
}

// foreseen is a verdict as a result: what AWS would refuse first, for nothing
// else happens then.
func foreseen(cluster string, v preflight.Verdict) Result {
	r := Result{Incidents: []Incident{}, Unknown: []Unknown{}, plan: string(v.Plan.Kind) + " " + v.Plan.Name}
	r.there = v.Plan.Exists()
	for _, f := range v.Refused {
		r.Incidents = append(r.Incidents, Incident{
			Cause: string(f.ID), Confidence: string(checks.Certain), Cluster: cluster, Resources: []string{f.Field}, Nodegroups: []string{}, Instances: []string{},
			Title: f.Title, Evidence: []Evidence{{What: "Documentation", Value: f.Source}}, Fix: Fix{Text: f.Fix},
			Contributing: []string{}, Symptoms: []string{}, Hidden: []Hidden{}, why: f.Why, resource: f.Field,
		})
	}
	for _, c := range v.Causes {
		if i, ok := incident(report.Observation{Cluster: cluster, By: "preflight"}, c, nil); ok {
			r.Incidents = append(r.Incidents, i)
		}
	}
	for _, u := range v.Unknown {
		for _, f := range u.Blocked {
			if unasked(u, f, nil) {
				continue
			}
			r.Unknown = append(r.Unknown, Unknown{Check: string(u.Check), Resource: cmp.Or(strings.Join(u.Covers, " "), cluster), Reason: reason(f)})
		}
	}
	r.Healthy = r.status() == healthyStatus
	return r
}
