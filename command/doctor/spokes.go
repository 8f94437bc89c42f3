package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/infra/specs"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/target"
	"rollcall/shared/target/deliver"
	"rollcall/shared/target/message"
)

// Buses is what it takes of EventBridge for the bus that spokes forward to.
type Buses interface {
	DescribeEventBus(context.Context, *eventbridge.DescribeEventBusInput, ...func(*eventbridge.Options)) (*eventbridge.DescribeEventBusOutput, error)
}

// Incidents is what it takes of the table about a spoke.
type Incidents interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
}

// Elsewhere are clients of another account or region, with credentials of that account.
type Elsewhere struct {
	Functions  Functions
	Rules      Rules
	Roles      Roles
	Clusters   Clusters
	Kubernetes func(ctx context.Context, c Cluster) (Kubernetes, error)
}

// ErrNoWay: it is not set with which credentials a spoke's account is looked at.
var ErrNoWay = errors.New("no credentials of that account were given")

// hub is what spokes are held against.
type hub struct {
	Deployment
	there []functionOf
	cfg   config.Config
	table string
}

// function is one of the hub's, if it is there.
func (h hub) function(name string) (functionOf, bool) {
	i := slices.IndexFunc(h.there, func(f functionOf) bool { return f.spec.Name == name })
	if i < 0 {
		return functionOf{}, false
	}
	return h.there[i], true
}

// bus is the ARN of the bus that spokes forward to.
func (h hub) bus() string {
	id := spoke.ID{Account: h.Account, Region: h.Region}
	return "arn:" + id.Partition() + ":events:" + h.Region + ":" + h.Account + ":event-bus/" + Prefix + "-spokes"
}

// spokes looks at the accounts and regions beside the hub's own: first whether the hub takes
// in what they send, then, with credentials of each, at what is deployed there.
func (c Clients) spokes(ctx context.Context, d Deployment, there []functionOf) []Finding {
	h := hub{Deployment: d, there: there}
	for _, f := range there {
		if f.setting(config.Spokes) == "" {
			continue // of a release before there were spokes
		}
		var err error
		if h.cfg, err = settingsOf(f, append(config.SpokeVariables(), config.Clusters)...); err != nil {
			return nil // clusters says so
		}
		break
	}
	if len(h.cfg.Others()) == 0 {
		return nil
	}
	for _, f := range there {
		if t := f.setting(config.TableName); t != "" {
			h.table = t
		}
	}
	list := append(c.busOfSpokes(ctx, h), c.copies(ctx, h)...)
	for _, s := range h.cfg.Others() {
		for _, f := range c.spoke(ctx, h, s) {
			f.Account, f.Region, f.Whose = s.Account, s.Region, s.Name
			list = append(list, f)
		}
	}
	return list
}

// called is a spoke as people know it.
func called(s config.Spoke) string {
	if s.Name == "" {
		return s.String()
	}
	return s.Name + " (" + s.String() + ")"
}

// busOfSpokes looks whether the hub takes in what the spokes' accounts send.
func (c Clients) busOfSpokes(ctx context.Context, h hub) []Finding {
	name := Prefix + "-spokes"
	out, err := c.Buses.DescribeEventBus(ctx, &eventbridge.DescribeEventBusInput{Name: aws.String(name)})
	switch {
	case coded(err, "ResourceNotFoundException"):
		return []Finding{redeploy(Finding{Part: "event bus", Name: name, Says: "does not exist: launch events of spokes do not arrive; launches are found by the next sweep at the earliest"})}
	case err != nil:
		return []Finding{unseen("event bus", name, "events:DescribeEventBus", err)}
	}
	accounts, err := takenFrom(aws.ToString(out.Policy))
	if err != nil {
		return []Finding{{Part: "event bus", Name: name, State: Unknown, Says: "its policy could not be read: " + err.Error()}}
	}
	var list []Finding
	for _, s := range h.cfg.Others() {
		if slices.Contains(accounts, s.Account) {
			continue
		}
		list = append(list, redeploy(Finding{
			Part: "event bus", Name: name, Says: "does not accept events of " + called(s) + ": launches there are found by the next sweep at the earliest",
			Do: "Deploy the hub again with the settings as they are: the bus accepts events of the accounts of the setting spokes.",
		}))
	}
	if len(list) == 0 {
		list = []Finding{{Part: "event bus", Name: name, State: Well, Says: "accepts events of the spokes"}}
	}
	return list
}

// takenFrom are the accounts that a bus's policy lets send. EventBridge writes an account as
// the ARN of its root user (API reference, DescribeEventBus, "Policy").
func takenFrom(policy string) ([]string, error) {
	if policy == "" {
		return nil, nil
	}
	var document struct {
		Statement []struct {
			Effect    string
			Principal struct{ AWS texts }
		}
	}
	if err := json.Unmarshal([]byte(policy), &document); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var accounts []string
	for _, s := range document.Statement {
		for _, p := range s.Principal.AWS {
			if s.Effect == "Allow" {
				accounts = append(accounts, accountOf(p))
			}
		}
	}
	return accounts, nil
}

// accountOf is the account of an ARN, or what is an account itself.
func accountOf(principal string) string {
	if part := strings.Split(principal, ":"); len(part) == 6 {
		return part[4]
	}
	return principal
}

// spoke looks at one.
func (c Clients) spoke(ctx context.Context, h hub, s config.Spoke) []Finding {
	list, looked := c.lookThere(ctx, h, s)
	// That the hub is not let in is what the hub itself has seen: said by its own record where
	// nothing was found there that explains it.
	if !slices.ContainsFunc(list, func(f Finding) bool { return f.State == Wrong && f.Part == "spoke" }) {
		list = append(list, c.letIn(ctx, h, s)...)
	}
	if looked && !slices.ContainsFunc(list, func(f Finding) bool { return f.State == Wrong || f.State == Unknown }) {
		list = append(list, Finding{Part: "spoke", Name: called(s), State: Well, Says: "trusts the hub, and forwards to it"})
	}
	return list
}

// letIn looks whether the hub has found that the spoke does not let it in.
func (c Clients) letIn(ctx context.Context, h hub, s config.Spoke) []Finding {
	incidents, err := c.Incidents(h.table, s.ID).Incidents(ctx, report.AllClusters)
	if err != nil {
		return []Finding{unseen("spoke", called(s), "dynamodb:Query on "+h.table, err)}
	}
	for _, i := range incidents {
		if i.Key.Check == incident.CannotLook && i.State != incident.Closed {
			return []Finding{{
				Part: "spoke", Name: called(s), State: Wrong, Says: fmt.Sprintf("%s, since %s", i.Cause.Title, i.Began.UTC().Format("2006-01-02 15:04 UTC")), Do: i.Cause.Fix.Text,
			}}
		}
	}
	return nil
}

// lookThere looks at what is deployed in a spoke's account and region; false where that
// could not be.
func (c Clients) lookThere(ctx context.Context, h hub, s config.Spoke) (list []Finding, looked bool) {
	e, err := c.Elsewhere(ctx, s.ID)
	switch {
	case errors.Is(err, ErrNoWay):
		return []Finding{{
			Part: "spoke", Name: called(s), State: Unknown, Says: "its deployment was not checked: " + ErrNoWay.Error(),
			Do: "Run it with --spoke-role and the name of a role that you may assume in each account, or with --spoke-profile " + s.Account + "=PROFILE.",
		}}, false
	case err != nil:
		return []Finding{{Part: "spoke", Name: called(s), State: Unknown, Says: "its deployment could not be checked: " + err.Error()}}, false
	}
	name := roleName(spec.SpokeReader, s.ID)
	out, err := e.Roles.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
	switch {
	case coded(err, "NoSuchEntity"):
		return []Finding{{
			Part: "spoke", Name: called(s), State: Wrong, Says: "its stack does not exist: there is no role " + name + ", and nothing of it is watched",
			Do: "Deploy it with that account's credentials, or take it out of the setting spokes and deploy the hub again.", Command: h.deploySpoke(s, ""),
		}}, true
	case err != nil:
		return []Finding{unseen("spoke", called(s), "iam:GetRole in account "+s.Account, err)}, false
	}
	list = append(list, h.trust(s, spec.SpokeReader, aws.ToString(out.Role.AssumeRolePolicyDocument))...)
	if !slices.ContainsFunc(out.Role.Tags, func(t iamtypes.Tag) bool {
		return aws.ToString(t.Key) == specs.SpokeTag && aws.ToString(t.Value) == specs.SpokeDigest(h.Specs)
	}) {
		list = append(list, Finding{
			Part: "spoke", Name: called(s), State: Wrong, Says: "its stack is of another release: what it reads, forwards or trusts differs from this release",
			Do: "Deploy it again with this release, with that account's credentials and the same arguments as before (SPOKE and SET too).", Command: h.deploySpoke(s, ""),
		})
	}
	rules, enabled := e.forwards(ctx, h, s)
	if list = append(list, rules...); !enabled {
		return list, true
	}
	list = append(list, h.changing(ctx, e, s)...)
	return append(list, c.clustersThere(ctx, h, s, e, aws.ToTime(out.Role.CreateDate))...), true
}

// roleName is the name of a spoke's role.
func roleName(role spec.SpokeRole, of spoke.ID) string {
	arn := config.SpokeRoleARN(Prefix, role, of)
	return arn[strings.LastIndex(arn, "/")+1:]
}

// deploySpoke is the command that deploys a spoke, with what its clusters opted in to.
func (h hub) deploySpoke(s config.Spoke, set string) string {
	command := "make deploy-spoke HUB='" + h.Account + "/" + h.Region + "' EXTERNAL_ID='" + h.cfg.ExternalID + "'"
	if set != "" {
		command += " SPOKE='" + s.String() + "' SET=\"" + set + "\""
	}
	return command
}

// clustersThere looks at the clusters of a spoke, of which the reader was made at a time.
func (c Clients) clustersThere(ctx context.Context, h hub, s config.Spoke, e Elsewhere, made time.Time) []Finding {
	c.Functions, c.Clusters, c.Roles, c.Kubernetes = e.Functions, e.Clusters, e.Roles, e.Kubernetes
	names := h.cfg.ForSpoke(s.ID).Clusters
	if names == nil {
		var err error
		if names, err = c.all(ctx); err != nil {
			return []Finding{unseen("cluster", called(s), "eks:ListClusters in "+s.String(), err)}
		}
	}
	r := reader{name: roleName(spec.SpokeReader, s.ID), role: config.SpokeRoleARN(h.cfg.RolePath+Prefix, spec.SpokeReader, s.ID), made: made}
	for _, f := range h.there {
		if len(f.spec.Kube) > 0 && slices.Contains(f.spec.Assumes, spec.SpokeReader) {
			r.functions = append(r.functions, f)
		}
	}
	if len(r.functions) == 0 {
		return nil
	}
	there := Deployment{Account: s.Account, Region: s.Region, Specs: h.Specs, Now: h.Now}
	var list []Finding
	for _, name := range names {
		for _, f := range c.cluster(ctx, there, name, []reader{r}) {
			f.Cluster = name
			f.Name = strings.Replace(f.Name, name, s.Qualify(name), 1)
			if f.Command != "" && !strings.HasPrefix(f.Command, "SET=") { // settings are the hub's
				f.Do = strings.TrimSpace(f.Do + " Do it with credentials of account " + s.Account + ".")
			}
			list = append(list, f)
		}
	}
	return list
}

// clusterRow is a cluster in the table at the end.
type clusterRow struct {
	cluster, account, region, whose string
	state                           State
}

// unlooked stands for the clusters of a spoke that could not be read.
const unlooked = "(not checked)"

// rows are the clusters of some findings, each with the worst that is said of it and of its
// spoke: one that cannot be looked at is not well.
func rows(list []Finding) []clusterRow {
	worse := map[State]int{Well: 1, Off: 1, Unknown: 2, Wrong: 3}
	var all []clusterRow
	at := map[[3]string]int{}
	ofSpoke := map[[2]string]State{}
	for _, f := range list {
		if f.Cluster == "" {
			if f.Part == "spoke" {
				id := [2]string{f.Account, f.Region}
				if worse[f.State] > worse[ofSpoke[id]] {
					ofSpoke[id] = f.State
				}
			}
			continue
		}
		key := [3]string{f.Account, f.Region, f.Cluster}
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, clusterRow{f.Cluster, f.Account, f.Region, f.Whose, Well})
		}
		if worse[f.State] > worse[all[i].state] {
			all[i].state = f.State
		}
	}
	for i, r := range all {
		if s := ofSpoke[[2]string{r.account, r.region}]; worse[s] > worse[r.state] {
			all[i].state = s
		}
	}
	for _, f := range list {
		if f.Part == "spoke" && !slices.ContainsFunc(all, func(r clusterRow) bool { return r.account == f.Account && r.region == f.Region }) {
			all = append(all, clusterRow{unlooked, f.Account, f.Region, f.Whose, ofSpoke[[2]string{f.Account, f.Region}]})
		}
	}
	return all
}

// printClusters ends what is printed: every cluster that was looked at, with its owner.
func printClusters(w io.Writer, list []Finding) error {
	all := rows(list)
	if len(all) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\n\tCLUSTER\tACCOUNT\tREGION\tNAME")
	for _, r := range all {
		whose := r.whose
		if whose == "" {
			whose = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", mark(r.state), r.cluster, r.account, r.region, whose)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the clusters: %w", err)
	}
	return nil
}

// targets looks whether the secrets of the targets besides Slack hold what they are for,
// and has each told of a test.
func (c Clients) targets(ctx context.Context, d Deployment, f functionOf, busName string) []Finding {
	cfg, err := settingsOf(f, config.Targets)
	if err != nil {
		return []Finding{redeploy(Finding{Part: "settings", Name: Prefix + "-" + f.spec.Name, Says: err.Error(), Do: "Correct the setting (docs/settings.md), and deploy."})}
	}
	var list []Finding
	for _, t := range cfg.Targets {
		list = append(list, c.target(ctx, t, d.Now))
	}
	if d.TestMessage {
		list = append(list, c.testTargets(ctx, d, busName))
	}
	return list
}

// target looks at a target's secret. What it holds is in no finding.
func (c Clients) target(ctx context.Context, t target.Target, now time.Time) Finding {
	f := Finding{Part: "target", Name: t.Name(), State: Well, Says: "configured"}
	if t.Secret == "" {
		return f
	}
	put := fillIn(string(t.Kind)+" secret", t.Secret)
	text, err := deliver.NewSecrets(c.Secrets, func() time.Time { return now }).Read(ctx, t.Name(), t.Secret)
	switch {
	case coded(err, "ResourceNotFoundException"):
		f.State, f.Says, f.Do = Wrong, "there is no secret of this name in the account and region, or nothing in it", "Create it, and store the value that docs/targets.md describes."
		f.Command = makeSecret(string(t.Kind)+" secret", t.Secret)
		return f
	case err != nil && deliver.IsEmpty(err):
		f.State, f.Says, f.Do, f.Command = Wrong, "its secret is empty", "Store the value that docs/targets.md describes.", put
		return f
	case err != nil:
		return unseen("target", t.Name(), "secretsmanager:GetSecretValue", err)
	}
	if err := deliver.CheckSecret(t, text); err != nil {
		f.State, f.Says, f.Do, f.Command = Wrong, strings.TrimPrefix(err.Error(), "target "+t.Name()+": "), "Store the value that docs/targets.md describes.", put
		return f
	}
	f.Says = "its secret has the required form"
	if t.Kind == target.SlackWebhook {
		f.Says += "; an incoming webhook has no buttons, threads or edits, for which it needs the Slack app (docs/install.md)"
	}
	if by, err := deliver.ParseAlerting(t, text); err == nil && t.Kind.HasAlerts() {
		back := "; acknowledgements made there do not come back, for which it needs an apiToken (docs/targets.md)"
		if by.ReadsBack(t.Kind) {
			back = "; acknowledgements made there come back within five minutes"
		}
		f.Says += back
	}
	return f
}

// testTargets puts a test message on the bus, from where notify-targets takes it as it
// takes what happens to incidents.
func (c Clients) testTargets(ctx context.Context, d Deployment, busName string) Finding {
	f := Finding{
		Part: "test message", Name: "targets", State: Well,
		Says: "published: each target receives it within seconds, and a rejection fires the alarm of dead letters (PagerDuty's alert closes itself)",
	}
	detail, err := json.Marshal(struct {
		ID    string         `json:"id"`
		At    time.Time      `json:"at"`
		Words incident.Words `json:"words"`
	}{
		"test/" + d.Now.UTC().Format(time.RFC3339Nano), d.Now.UTC(),
		message.TestWords(d.Account, d.Region),
	})
	if err == nil {
		var out *eventbridge.PutEventsOutput
		out, err = c.Bus.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
			EventBusName: aws.String(busName), Source: aws.String(bus.Source), DetailType: aws.String(message.Test), Detail: aws.String(string(detail)), Time: aws.Time(d.Now),
		}}})
		if err == nil && out.FailedEntryCount > 0 {
			f.State, f.Says = Wrong, "EventBridge rejected it: "+strings.TrimSpace(aws.ToString(out.Entries[0].ErrorCode)+" "+aws.ToString(out.Entries[0].ErrorMessage))
		}
	}
	if err != nil {
		return unseen("test message", "targets", "events:PutEvents", err)
	}
	return f
}

// makeSecret makes a secret of what is typed: it is not in the shell's history, nor in the
// list of processes. A secret's name needs no quoting that single quotes do not give.
func makeSecret(what, name string) string {
	return strings.Replace(fillIn(what, name), "put-secret-value --secret-id", "create-secret --name", 1)
}
