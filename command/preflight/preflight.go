// Package preflight tells what of a plan would fail before it is made, in an account as it
// is or in that of a capture or a world: what the command rollcall preflight says.
package preflight

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"rollcall/command/diagnose"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/command/subject"
	"rollcall/shared/checks/finding"
	"rollcall/shared/preflight"
	"rollcall/shared/preflight/live"
	"rollcall/shared/report"
)

// Asked is what a person asks to be judged: one of a file, a text, a launch template and
// a subnet.
type Asked struct {
	// File is a file of what is planned, Text its text where there is no file.
	File, Text string
	// Template is a version of a launch template that is there.
	Template string
	// Subnets are where its nodes would stand, or the one that is judged alone.
	Subnets string
	// Cluster is where what is planned is to be, if it does not say so.
	Cluster string
}

// None reports whether nothing is asked.
func (a Asked) None() bool {
	return a.File == "" && a.Text == "" && a.Template == "" && a.Subnets == ""
}

// In judges what is planned, in the account of a world or a capture.
func In(ctx context.Context, asked Asked, s subject.Subject, worlds subject.Worlds, notes io.Writer) (result.Result, error) {
	p, err := asked.plan()
	if err != nil {
		return result.Result{}, err
	}
	a, err := s.Open(ctx, worlds, notes)
	if err != nil {
		return result.Result{}, err
	}
	defer a.Close()
	return in(ctx, p, asked.Cluster, a)
}

// in judges a plan in an account that is read in this process.
func in(ctx context.Context, p preflight.Plan, wanted string, a subject.Account) (result.Result, error) {
	cluster, err := clusterFor(p, wanted, a.Clusters)
	if err != nil {
		return result.Result{}, err
	}
	v, err := live.Judge(ctx, a.Reader(), p, live.Where{Account: a.ID, Region: a.Region, Cluster: cluster, Time: a.Now()})
	if err != nil {
		return result.Result{}, err
	}
	return foreseen(cluster, v), nil
}

// Live judges what is planned in an account as it is. Waiting receives how many calls were
// made so far, and returns what ends it.
func Live(ctx context.Context, asked Asked, of diagnose.Live, waiting func(calls func() int) (end func())) (result.Result, error) {
	p, err := asked.plan()
	if err != nil {
		return result.Result{}, err
	}
	if name := cmp.Or(p.Cluster, asked.Cluster); name != "" {
		of.Clusters = []string{name}
	} else {
		of.All = true
	}
	a := diagnose.NewAccount(of)
	end := waiting(a.Asked)
	defer end()
	if err := a.Open(ctx); err != nil {
		return result.Result{}, err
	}
	cluster, err := clusterFor(p, asked.Cluster, a.ClusterNames())
	if err != nil {
		return result.Result{}, err
	}
	v, err := live.Judge(ctx, a.Reader(), p, live.Where{Account: a.Account, Region: a.AWS.Region, Cluster: cluster, Time: a.Now()})
	if err != nil {
		return result.Result{}, err
	}
	return foreseen(cluster, v), nil
}

// plan is what is to be judged: one of a file, a launch template and a subnet. The
// subnets of a launch template say where its nodes would stand.
func (a Asked) plan() (preflight.Plan, error) {
	subnets := strings.Split(a.Subnets, ",")
	var p preflight.Plan
	var err error
	switch {
	case (a.File != "" || a.Text != "") && a.Template != "":
		return p, exit.Misuse("--file and --launch-template cannot be used together")
	case a.Text != "":
		if p, err = preflight.Parse([]byte(a.Text)); err != nil {
			return p, exit.Misuse("the plan: %w", err)
		}
	case a.File != "":
		if p, err = readPlan(a.File); err != nil {
			return p, err
		}
	case a.Template != "":
		if p, err = preflight.ParseTemplateRef(a.Template); err != nil {
			return p, exit.Misuse("--launch-template %w", err)
		}
	case len(subnets) > 1:
		return p, exit.Misuse("--subnet: one subnet at a time; several need --launch-template")
	default:
		if p, err = preflight.ParseSubnet(a.Subnets); err != nil {
			return p, exit.Misuse("--subnet %w", err)
		}
		return p, nil
	}
	if a.Subnets == "" {
		return p, nil
	}
	if p.Kind != preflight.LaunchTemplate {
		return p, exit.Misuse("--subnet cannot be used with a %s, which lists its subnets", p.Kind)
	}
	for _, id := range subnets {
		if _, err := preflight.ParseSubnet(id); err != nil {
			return p, exit.Misuse("--subnet %w", err)
		}
	}
	p.In = subnets
	return p, nil
}

func readPlan(path string) (preflight.Plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return preflight.Plan{}, exit.Misuse("--file %s: no such file, or not readable", path)
	}
	p, err := preflight.Parse(data)
	if err != nil {
		return p, exit.Misuse("%s: %w", path, err)
	}
	return p, nil
}

// clusterFor is the cluster that a plan is for: the one that it names, that
// -cluster names, or the only one.
func clusterFor(p preflight.Plan, asked string, there []string) (string, error) {
	if p.Cluster != "" && asked != "" && p.Cluster != asked {
		return "", exit.Misuse("--cluster %s: the file is for %s", asked, p.Cluster)
	}
	for _, name := range []string{p.Cluster, asked} {
		if name == "" {
			continue
		}
		if !slices.Contains(there, name) {
			return "", exit.Misuse("there is no cluster %s here, only %s", name, strings.Join(there, ", "))
		}
		return name, nil
	}
	if len(there) != 1 {
		return "", exit.Misuse("no cluster given: set --cluster to one of %s", strings.Join(there, ", "))
	}
	return there[0], nil
}

// foreseen is a verdict as a result: what AWS would refuse first, for nothing
// else happens then.
func foreseen(cluster string, v preflight.Verdict) result.Result {
	r := result.Result{Incidents: []result.Incident{}, Unknown: []result.Unknown{}, Plan: string(v.Plan.Kind) + " " + v.Plan.Name}
	r.There = v.Plan.Exists()
	for _, f := range v.Refused {
		r.Incidents = append(r.Incidents, result.Incident{
			Cause: string(f.ID), Confidence: string(finding.Certain), Cluster: cluster, Resources: []string{f.Field}, Nodegroups: []string{}, Instances: []string{},
			Title: f.Title, Evidence: []result.Evidence{{What: "Documentation", Value: f.Source}}, Fix: result.Fix{Text: f.Fix},
			Contributing: []string{}, Symptoms: []string{}, Hidden: []result.Hidden{}, Why: f.Why, Resource: f.Field,
		})
	}
	for _, c := range v.Causes {
		if i, ok := result.FromCause(report.Observation{Cluster: cluster, By: "preflight"}, c, nil); ok {
			r.Incidents = append(r.Incidents, i)
		}
	}
	for _, u := range v.Unknown {
		for _, f := range u.Blocked {
			if result.Unasked(u, f, nil) {
				continue
			}
			r.Unknown = append(r.Unknown, result.NotRun(u.Check, cmp.Or(strings.Join(u.Covers, " "), cluster), f))
		}
	}
	r.Healthy = r.Status() == exit.Healthy
	return r
}
