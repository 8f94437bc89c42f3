// Command runbook writes docs/runbook.md: what AWSSupport-TroubleshootEKSWorkerNode
// says of each world of the corpus, as documented, beside what Rollcall says.
// Run it from the root of the repository.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/reach"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/bench/harness"
)

const usage = `Lets AWS's own runbook, as documented, and Rollcall look at each world of the
corpus, and writes both side by side: docs/runbook.md. Some minutes.

  go run ./tools/bench/runbook
`

func main() {
	out := flag.String("page", "docs/runbook.md", "file for the page")
	harness.Main(usage, harness.Always, func(ctx context.Context) error { return write(ctx, "stage/worlds/corpus", *out) })
}

func write(ctx context.Context, folder, out string) error {
	files, err := worldsOf(folder)
	if err != nil {
		return err
	}
	binary, err := harness.Rollcall(ctx)
	if err != nil {
		return err
	}
	rows := make([]row, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i, file := range files {
		g.Go(func() error {
			var err error
			if rows[i], err = look(ctx, file); err != nil {
				return fmt.Errorf("%s: the runbook: %w", file, err)
			}
			switch status, err := harness.Diagnose(ctx, binary, file, &rows[i].ours); {
			case err != nil:
				return fmt.Errorf("%s: Rollcall: %w", file, err)
			case status >= badInput:
				return fmt.Errorf("%s: Rollcall: exit status %d", file, status)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return harness.Page(out, page(rows))
}

// worldsOf are the worlds of the corpus; unseen.yaml lists what none retells.
func worldsOf(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list the worlds: %w", err)
	}
	files = slices.DeleteFunc(files, func(path string) bool { return filepath.Base(path) == "unseen.yaml" })
	if len(files) == 0 {
		return nil, fmt.Errorf("no worlds in %s", folder)
	}
	return files, nil
}

// row is one world and what both say of it.
type row struct {
	name   string
	check  string
	expect worldfile.Expect
	// runs are the runbook's, one for each instance that could be named to it.
	runs []Report
	ours diagnosis
	own  ownWords
}

// kind says which part of the page a world belongs to.
type kind int

const (
	broken  kind = iota // a cause must be named
	healthy             // nothing must be named
	untold              // no cause can be told: left out of the figures
)

func (r row) kind() kind {
	switch {
	case r.expect.Healthy:
		return healthy
	case len(r.expect.Incidents) == 0 || isSymptom(r.truth()[0]):
		return untold
	}
	return broken
}

// isSymptom reports whether a check names no cause: that a node is missing is why
// the run began.
func isSymptom(id string) bool {
	return slices.ContainsFunc(checks.All(), func(c check.Check) bool {
		return string(c.ID) == id && c.Confidence == finding.Symptom
	})
}

// truth is the first cause of a broken world, as it may be named.
func (r row) truth() []string {
	i := r.expect.Incidents[0]
	return append([]string{i.Cause}, i.Or...)
}

// theirs is how far a run of the runbook gets, best last.
type theirs int

const (
	noInstance  theirs = iota // there is no instance to ask about
	didNotRun                 // a branch ended it
	nothing                   // no warning about it
	onlySymptom               // what does not work, and not why
	amongOthers               // the cause, behind other warnings
	causeFirst
)

func (t theirs) found() bool { return t >= amongOthers }

// judge holds a report against the cause.
func judge(r Report, truth []string) theirs {
	symptom := false
	for i, f := range r.Findings {
		switch {
		case !names(f, truth):
		case f.Symptom:
			symptom = true
		case i == 0:
			return causeFirst
		default:
			return amongOthers
		}
	}
	switch {
	case symptom:
		return onlySymptom
	case r.Stopped != "":
		return didNotRun
	}
	return nothing
}

func names(f Finding, truth []string) bool {
	return slices.ContainsFunc(f.Names, func(id checkid.ID) bool { return slices.Contains(truth, string(id)) })
}

// best is the run that serves the runbook best: who runs it may have luck
// with the instance.
func (r row) best() (Report, theirs) {
	var report Report
	level := noInstance
	for _, run := range r.runs {
		if l := judge(run, r.truth()); l > level {
			report, level = run, l
		}
	}
	return report, level
}

// named reports whether Rollcall's first incident is the cause, and whether any
// is.
func (r row) named() (first, any bool) {
	for i, in := range r.ours.Incidents {
		if slices.Contains(r.truth(), in.Cause) {
			return i == 0, true
		}
	}
	return false, false
}

// warnings are the steps of the runbook that warn in a healthy world. That it
// does not run is no warning.
func (r row) warnings() []string {
	var steps []string
	for _, run := range r.runs {
		if run.Stopped != "" {
			continue
		}
		for _, f := range run.Findings {
			if !slices.Contains(steps, f.Step) {
				steps = append(steps, f.Step)
			}
		}
	}
	return steps
}

// falseAlarms are the causes that Rollcall names in a healthy world.
func (r row) falseAlarms() []string {
	var list []string
	for _, in := range r.ours.Incidents {
		if in.Confidence != string(finding.Advice) {
			list = append(list, in.Cause)
		}
	}
	return list
}

// by reports whether one step of the best run names the cause.
func (r row) by(step string) bool {
	report, _ := r.best()
	return slices.ContainsFunc(report.Findings, func(f Finding) bool {
		return f.Step == step && !f.Symptom && names(f, r.truth())
	})
}

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
func runs(ctx context.Context, r *gather.Reader, w *world.World, file *worldfile.File, cluster string) ([]Report, error) {
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
	var reports []Report
	for _, in := range named {
		subject := Subject{Account: s, Node: in, Ready: ready[in.ID]}
		if subject.Secondary, err = secondary(w, in.ID); err != nil {
			return nil, err
		}
		if !subject.Ready {
			subject.Unreachable = unreachable(w.Paths(in.ID))
		}
		reports = append(reports, Run(subject))
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

// meant reports whether an instance without the cluster's tag is still one of its
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

// diagnosis is what rollcall diagnose --json prints, as far as the page shows it.
type diagnosis struct {
	Incidents []incident
}

// incident is one cause. The first is what a person should fix first.
type incident struct{ Cause, Confidence, Title string }

// badInput is diagnose's exit status for a world that it cannot read; what is
// below it is a result.
const badInput = 64

// ownWords are what EKS and Karpenter say of a world by themselves: what
// describe-nodegroup and kubectl print.
type ownWords struct {
	health     []string
	conditions []string
}

func wordsOf(w *world.World, cluster string) (ownWords, error) {
	var own ownWords
	groups, err := w.EKS().ListNodegroups(&eks.ListNodegroupsInput{ClusterName: aws.String(cluster)})
	if err != nil {
		return own, fmt.Errorf("list nodegroups: %w", err)
	}
	for _, name := range groups.Nodegroups {
		out, err := w.EKS().DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(name)})
		if err != nil {
			return own, fmt.Errorf("describe nodegroup %s: %w", name, err)
		}
		if out.Nodegroup.Health == nil {
			continue
		}
		for _, i := range out.Nodegroup.Health.Issues {
			own.health = append(own.health, fmt.Sprintf("%s: %s", i.Code, aws.ToString(i.Message)))
		}
	}
	for _, kind := range []string{"nodepools", "ec2nodeclasses", "nodeclasses", "nodeclaims"} {
		list, err := w.Kubernetes(cluster, kind)
		if errors.Is(err, kubestate.ErrNoKind) {
			continue
		}
		if err != nil {
			return own, fmt.Errorf("list %s: %w", kind, err)
		}
		for _, item := range list.Items {
			said, err := conditionsOf(item)
			if err != nil {
				return own, fmt.Errorf("%s: %w", kind, err)
			}
			own.conditions = append(own.conditions, said...)
		}
	}
	return own, nil
}

// conditionsOf are the conditions of an object that are not True, but for those that
// only add others up or say that nothing is to be done.
func conditionsOf(item []byte) ([]string, error) {
	var o struct {
		Kind   string
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}
	if err := json.Unmarshal(item, &o); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	var list []string
	for _, c := range o.Status.Conditions {
		sums := []string{"Ready", "NodeClassReady", "Consolidatable", "Drifted"}
		if c.Status == "True" || slices.Contains(sums, c.Type) || c.Reason == "DependenciesNotReady" {
			continue
		}
		list = append(list, strings.TrimSuffix(fmt.Sprintf("%s %s=%s, %s: %s", o.Kind, c.Type, c.Status, c.Reason, c.Message), ": "))
	}
	return list, nil
}

const ownHead = `
## In their own words

What EKS says of a nodegroup's health, and Karpenter or EKS Auto Mode in the conditions of their objects, in the broken worlds in which either says anything;
conditions that only add others up are left out. Beside it the steps of the runbook that warn, and Rollcall's title.

| world | nodegroup health | conditions | runbook | Rollcall |
|---|---|---|---|---|
`

// ownTable shows the words of EKS and Karpenter beside the runbook's and Rollcall's.
func ownTable(b *strings.Builder, rows []row) {
	b.WriteString(ownHead)
	bad := rowsOf(rows, broken)
	health, conditions := 0, 0
	for _, r := range bad {
		if len(r.own.health) > 0 {
			health++
		}
		if len(r.own.conditions) > 0 {
			conditions++
		}
		if len(r.own.health)+len(r.own.conditions) > 0 {
			fmt.Fprintf(b, "%s%s |\n", r.ownHalf(), r.title())
		}
	}
	fmt.Fprintf(b, "\nOf the %d broken worlds a nodegroup's health says something in %d, and a condition of Karpenter's in %d.\n", len(bad), health, conditions)
}

// ownHalf is a row without Rollcall's cell: what a test makes anew.
func (r row) ownHalf() string {
	return fmt.Sprintf("| %s | %s | %s | %s | ", worldLink(r.name), cell(r.own.health), cell(r.own.conditions), r.theirCell())
}

func cell(list []string) string {
	if len(list) == 0 {
		return "—"
	}
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(strings.Join(list, "; "))
}

// title is how Rollcall's first incident begins its message.
func (r row) title() string {
	if len(r.ours.Incidents) == 0 {
		return "—"
	}
	first := r.ours.Incidents[0]
	return strings.ReplaceAll(fmt.Sprintf("%s: %s", first.Cause, first.Title), "|", `\|`)
}

const head = `# AWSSupport-TroubleshootEKSWorkerNode and Rollcall, side by side

Generated by ` + "`go run ./tools/bench/runbook`" + ` from the [worlds of the corpus](../stage/worlds/corpus). Do not edit.

AWS's runbook is what a person starts by hand for one instance. It cannot run here: each step of its
[document of June 2026](%s) is modelled as [a small rule](../tools/bench/runbook/automation.go) over the same API answers.
The steps' code is an attachment that is not public, so this is the runbook **as documented**, run with its defaults; where the document leaves something
open the model takes the reading that finds more. It also gets an administrator's rights, the right instance to ask about (a Ready one where all is
well) and, where several failed, the one that shows most. Rollcall is its real functions.

The worlds were written to test Rollcall: every one is about a cause in its catalogue. Read the figures as what the runbook's steps cover, not as a survey of faults: Rollcall's checks were corrected on these very worlds, and the runbook's model by hand.
`

// page is docs/runbook.md.
func page(rows []row) string {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.check == "" })
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	fmt.Fprintf(&b, head, Document)
	figures(&b, rows)
	stepTable(&b, rows)
	onlyOne(&b, rows)
	ownTable(&b, rows)
	brokenTable(&b, rows)
	healthyTable(&b, rows)
	return b.String()
}

func rowsOf(rows []row, k kind) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.kind() != k })
}

func count(rows []row, is func(row) bool) int {
	n := 0
	for _, r := range rows {
		if is(r) {
			n++
		}
	}
	return n
}

func figures(b *strings.Builder, rows []row) {
	bad, good := rowsOf(rows, broken), rowsOf(rows, healthy)
	level := func(t theirs) int {
		return count(bad, func(r row) bool { _, l := r.best(); return l == t })
	}
	first := count(bad, func(r row) bool { f, _ := r.named(); return f })
	named := count(bad, func(r row) bool { _, n := r.named(); return n })
	fmt.Fprintf(b, "\n| | runbook, as documented | Rollcall |\n|---|---|---|\n")
	fmt.Fprintf(b, "| %d broken worlds: the cause is named | %d | %d |\n", len(bad), level(causeFirst)+level(amongOthers), named)
	fmt.Fprintf(b, "| … and stands first | %d | %d |\n", level(causeFirst), first)
	fmt.Fprintf(b, "| only a symptom of it | %d | %d |\n", level(onlySymptom), count(bad, row.onlySymptom))
	fmt.Fprintf(b, "| nothing about it | %d | %d |\n", level(nothing), count(bad, func(r row) bool { _, n := r.named(); return !n && !row.onlySymptom(r) }))
	fmt.Fprintf(b, "| does not run: cluster or instance not in the state it needs, system not supported | %d | 0 |\n", level(didNotRun))
	fmt.Fprintf(b, "| no instance to run it on | %d | 0 |\n", level(noInstance))
	fmt.Fprintf(b, "| %d healthy worlds: with a warning | %d | %d |\n", len(good),
		count(good, func(r row) bool { return len(r.warnings()) > 0 }), count(good, func(r row) bool { return len(r.falseAlarms()) > 0 }))
	if n := len(rowsOf(rows, untold)); n > 0 {
		fmt.Fprintf(b, "\n%d more worlds have no cause that can be told, as something that decides cannot be read or is said by nobody; they are left out.\n", n)
	}
	fmt.Fprintf(b, "\nThe runbook's report lists its warnings in the order of its steps; it does not rank them. In a broken world %.1f steps warn on average.\n", average(bad))
	fmt.Fprintf(b, "In %d broken worlds the SSM agent is online: there CheckSystemDaemons may say more than the model can know.\n", count(bad, daemonsMayTell))
}

// average is how many steps warn in a broken world.
func average(bad []row) float64 {
	warnings, runs := 0, 0
	for _, r := range bad {
		if report, level := r.best(); level > didNotRun {
			var steps []string
			for _, f := range report.Findings {
				steps = append(steps, f.Step)
			}
			warnings += len(slices.Compact(steps))
			runs++
		}
	}
	if runs == 0 {
		return 0
	}
	return float64(warnings) / float64(runs)
}

// daemonsMayTell reports whether the runbook could ask the node itself.
func daemonsMayTell(r row) bool {
	report, _ := r.best()
	return slices.ContainsFunc(report.Skipped, func(s Skip) bool {
		return s.Step == "21" && strings.HasPrefix(s.Why, "not knowable")
	})
}

// stepTable tells, for each step, what the worlds in its field show.
func stepTable(b *strings.Builder, rows []row) {
	bad := rowsOf(rows, broken)
	b.WriteString("\n## Step by step\n\nBroken worlds whose cause is in the step's field. A cause can be in the field of two steps.\n\n")
	b.WriteString("| step | document | Rollcall's checks for the same | both | only the runbook | only Rollcall | the model |\n|---|---|---|---|---|---|---|\n")
	for _, s := range Steps() {
		var both, theirs, ours int
		for _, r := range bad {
			if !r.causeIn(s) {
				continue
			}
			_, named := r.named()
			switch by := r.by(s.Number); {
			case by && named:
				both++
			case by:
				theirs++
			case named:
				ours++
			}
		}
		fmt.Fprintf(b, "| %s | [%s](%s#L%d) | %s | %s | %s | %s | %s |\n", s.Number, s.Name, Document, s.Line,
			links(strs(s.Checks)), number(both), number(theirs), number(ours), s.Note)
	}
}

// causeIn reports whether a world's cause is in a step's field.
func (r row) causeIn(s Step) bool {
	return slices.ContainsFunc(strs(s.Checks), func(id string) bool { return slices.Contains(r.truth(), id) })
}

func number(n int) string {
	if n == 0 {
		return "·"
	}
	return fmt.Sprint(n)
}

func strs[T ~string](list []T) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// links are checks, each linked to its page.
func links(list []string) string {
	out := make([]string, 0, len(list))
	for _, id := range list {
		out = append(out, fmt.Sprintf("[%s](checks/%s.md)", id, id))
	}
	if len(out) == 0 {
		return "—"
	}
	return strings.Join(out, ", ")
}

// notShown is what the worlds cannot show of either side.
const notShown = `
The runbook has, and Rollcall does not:

- **The node from inside.** With the SSM agent online it asks systemd for kubelet and containerd (21), and tries the name server, the cluster's API and AWS's
  endpoints from the node (22). Rollcall reads what the node wrote to its console, and never logs in. The agent needs the network that a failing node often lacks.
- **The Reachability Analyzer** (23), when asked: AWS's own second opinion on the path to the EKS service, for a fee per analysis, over IPv4. Its result stands in
  the child execution: the final report has no input for it.
- **The cluster's own role** (3), the **control plane's interfaces** (5), **unsupported instance types** (8) and **Outposts** (17): Rollcall has no check of their
  own for these; it shows the health issues that EKS itself reports.

Rollcall has, and no step of the document describes:

- **Nobody starts it.** It looks at each launch, at all instances that share a cause at once, and closes the message when a node has joined.
- **Launches that never became an instance, and instances that have ended**: there is nothing to run the runbook on, or it stops there.
- **Endpoints beside a NAT gateway.** The runbook takes one of three branches; an interface endpoint that takes a service's name is not looked at once there is a
  NAT route.
- **What Kubernetes says**: nodes, their conditions, ` + "`aws-node`" + `, ` + "`aws-auth`" + `.
- **"Not checked"**: what a missing permission hides is named, and never passes.
`

// onlyOne tells which causes only one of the two names in the worlds.
func onlyOne(b *strings.Builder, rows []row) {
	b.WriteString("\n## What only one of them sees\n")
	var ours, theirs []string
	for _, r := range rowsOf(rows, broken) {
		_, level := r.best()
		_, named := r.named()
		id := r.truth()[0]
		if named && !level.found() && !slices.Contains(ours, id) {
			ours = append(ours, id)
		}
		if level.found() && !named && !slices.Contains(theirs, id) {
			theirs = append(theirs, id)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	fmt.Fprintf(b, "\nIn at least one world only Rollcall names: %s.\n", links(ours))
	fmt.Fprintf(b, "\nIn at least one world only the runbook names: %s.\n", links(theirs))
	b.WriteString(notShown)
}

func brokenTable(b *strings.Builder, rows []row) {
	b.WriteString("\n## Each broken world\n\nThe runbook's column has the steps that warn, in the order of its report; **bold** is one that names the cause, *italic* one that shows a symptom of it.\n\n")
	b.WriteString("| world | cause | runbook | Rollcall |\n|---|---|---|---|\n")
	for _, r := range rowsOf(rows, broken) {
		fmt.Fprintf(b, "%s%s |\n", r.half(), r.ourCell())
	}
}

// half is a world's row without Rollcall's cell: what a test makes anew.
func (r row) half() string {
	if r.kind() == healthy {
		return fmt.Sprintf("| %s | %s | ", worldLink(r.name), steps(r.warnings()))
	}
	return fmt.Sprintf("| %s | %s | %s | ", worldLink(r.name), links(r.truth()[:1]), r.theirCell())
}

func worldLink(name string) string {
	return fmt.Sprintf("[%s](../stage/worlds/corpus/%s.yaml)", name, name)
}

func (r row) theirCell() string {
	report, level := r.best()
	var order []string
	mark := map[string]string{} // the strongest of each step
	for _, f := range report.Findings {
		if !slices.Contains(order, f.Step) {
			order = append(order, f.Step)
		}
		switch {
		case names(f, r.truth()) && !f.Symptom:
			mark[f.Step] = "**"
		case names(f, r.truth()) && mark[f.Step] == "":
			mark[f.Step] = "*"
		}
	}
	var marked []string
	for _, step := range order {
		marked = append(marked, mark[step]+step+mark[step])
	}
	if level == noInstance && len(r.runs) == 0 {
		return "no instance to run it on"
	}
	if report.Stopped != "" {
		return strings.TrimSuffix(report.Stopped+": "+strings.Join(marked, ", "), ": ")
	}
	return steps(marked)
}

func steps(list []string) string {
	if len(list) == 0 {
		return "—"
	}
	return strings.Join(list, ", ")
}

func (r row) ourCell() string {
	first, named := r.named()
	var causes []string
	for _, in := range r.ours.Incidents {
		causes = append(causes, in.Cause)
	}
	switch {
	case first:
		return "first"
	case named:
		return "after " + links(causes[:1])
	}
	return links(causes)
}

// onlySymptom reports whether Rollcall names a symptom and no cause.
func (r row) onlySymptom() bool {
	_, named := r.named()
	return !named && slices.ContainsFunc(r.ours.Incidents, func(i incident) bool { return i.Confidence == "symptom" })
}

func healthyTable(b *strings.Builder, rows []row) {
	b.WriteString("\n## Each healthy world\n\nEach is the nearest neighbour of a broken one: what tempts to a false alarm. Steps that warn, and causes that Rollcall names.\n\n")
	b.WriteString("| world | runbook | Rollcall |\n|---|---|---|\n")
	for _, r := range rowsOf(rows, healthy) {
		fmt.Fprintf(b, "%s%s |\n", r.half(), links(r.falseAlarms()))
	}
	notes(b, rows)
}

// notes tells which steps warn in healthy worlds, and how often.
func notes(b *strings.Builder, rows []row) {
	var list []string
	for _, s := range Steps() {
		if n := count(rowsOf(rows, healthy), func(r row) bool { return slices.Contains(r.warnings(), s.Number) }); n > 0 {
			list = append(list, fmt.Sprintf("%s %d", s.Number, n))
		}
	}
	if len(list) > 0 {
		fmt.Fprintf(b, "\nHealthy worlds by the step that warns: %s.\n", strings.Join(list, ", "))
	}
}
