// Package page writes the pages of the documentation that follow from the code: one for
// each check, their list, the command, the functions' permissions, and what texts mean.
package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	slackgo "github.com/slack-go/slack"
	"github.com/spf13/cobra"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/text"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// generated stands on every page that is written here.
const generated = "<!-- Written by make generate. Do not edit. -->\n\n"

// root leads from a check's page to the repository.
const root = "../../../"

// Checks is what the pages of the checks are made of.
type Checks struct {
	List []check.Check
	// Permissions are those that reading a source takes.
	Permissions func(snapshot.Source) []string
	// Worlds counts those of the corpus that are made for a check, broken and healthy.
	Worlds map[checkid.ID]int
}

// Path is where a check's page stands, below docs/checks.
func Path(id checkid.ID) string { return string(id) + ".md" }

// FolderOf is where the check's code is.
func FolderOf(id checkid.ID) string { return "shared/checks/" + string(id.Family()) }

// Shown is how what a check finds is shown in its example.
type Shown string

// The ways.
const (
	Posted  Shown = "posted"  // as the message of its own incident
	Beside  Shown = "beside"  // as what contributes to another cause, whose message it is
	Advised Shown = "advised" // as advice, which is no message
)

// Example is what is said of a check in a world.
type Example struct {
	World string // its name
	About string // what is wrong in it, in a sentence
	Shown Shown
	// Message is Markdown.
	Message string
}

// ExampleSection is the section of a check's page that shows what is said of it; it takes a look
// at a world, so that a test can leave it as it is.
func ExampleSection(c check.Check, e Example, found bool) string {
	var b strings.Builder
	b.WriteString("## Example\n\n")
	switch {
	case !found && slices.Contains(c.Needs, snapshot.LaunchHistory) || !found && c.ID.Family() == checkid.Spot:
		b.WriteString("It goes by the launches of days, which no single world of the corpus has. [The stories](../../stories.md) show a Spot report and its messages.\n")
		return b.String()
	case !found && c.ID.Family() == checkid.IP:
		b.WriteString("It goes by days of the subnet, or stands beside another finding. [The stories](../../stories.md) show a message about a subnet that was emptied.\n")
		return b.String()
	case !found:
		b.WriteString("It is evidence beside another cause, and has no message of its own.\n")
		return b.String()
	}
	lead := map[Shown]string{
		Posted:  "What is posted about this world of the corpus:",
		Beside:  "It has no message of its own here: it stands in the thread of another cause, whose message this is. The world:",
		Advised: "It is no incident, so nothing is posted; `rollcall diagnose` prints it, last. The world:",
	}[e.Shown]
	fmt.Fprintf(&b, "%s [%s](%sstage/worlds/corpus/%s.yaml). %s\n\n", lead, e.World, root, e.World, Escape(e.About))
	b.WriteString("<div class=\"message\">\n\n" + strings.TrimSpace(e.Message) + "\n\n</div>\n")
	return b.String()
}

// Between takes the example out of a page that stands.
func Between(page string) (string, bool) {
	_, rest, found := strings.Cut(page, "\n## Example\n")
	if !found {
		return "", false
	}
	text, _, found := strings.Cut(rest, "\n## ")
	return "## Example\n" + text, found
}

// Check is a check's page.
func (p Checks) Check(c check.Check, example string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n`%s`\n\n", generated, Escape(c.Title), c.ID)
	fmt.Fprintf(&b, "%s\n\n**Fix.** %s\n\n", prose(c.Cause), prose(c.Fix))
	if c.Remedy != "" {
		fmt.Fprintf(&b, "Rollcall can do it where you let it: the remedy [`%s`](../../remedies.md#%s).\n\n", c.Remedy, c.Remedy)
	}
	b.WriteString("## Confidence and message\n\n")
	fmt.Fprintf(&b, "- %s\n- %s\n", sure(c), detectedBy(c))
	if c.Confidence != finding.Advice {
		fmt.Fprintf(&b, "- %s\n- %s\n", urgent(c), ends(c))
	}
	b.WriteString("\n" + strings.TrimSpace(example) + "\n\n## What it reads\n\n")
	b.WriteString(p.table(c))
	unread := "the check says *unknown* and names the permission that is missing"
	if c.Optional {
		unread = "no verdict changes: a symptom without a cause lists the check as not checked, with the permission"
	}
	fmt.Fprintf(&b, "\nWhere one of them could not be read, %s.\n", unread)
	if explaining := checks.Explaining(p.List, c); len(explaining) > 0 {
		b.WriteString("\n## What explains it\n\nWhere one of these fails for the same instances, it is the cause, and this one is hidden behind it: ")
		b.WriteString(p.links(explaining) + ".\n")
	}
	b.WriteString("\n## Sources\n\n")
	for _, l := range c.Links {
		fmt.Fprintf(&b, "- <%s>\n", l)
	}
	file := FolderOf(c.ID)
	fmt.Fprintf(&b, "- [%s](%s%s)", file, root, file)
	if n := p.Worlds[c.ID]; n > 0 {
		fmt.Fprintf(&b, ", held on %d of [the corpus's worlds](%sstage/worlds/corpus)", n, root)
	}
	b.WriteString("\n")
	return b.String()
}

// table is what a check reads, and with which permissions.
func (p Checks) table(c check.Check) string {
	var b strings.Builder
	b.WriteString("| what | permissions |\n|---|---|\n")
	row := func(s snapshot.Source, note string) {
		var actions []string
		for _, a := range slices.Sorted(slices.Values(p.Permissions(s))) {
			actions = append(actions, "`"+a+"`")
		}
		fmt.Fprintf(&b, "| %s%s | %s |\n", s, note, strings.Join(actions, ", "))
	}
	for _, s := range c.Needs {
		row(s, "")
	}
	for _, s := range c.Uses {
		row(s, ", where it decides")
	}
	return b.String()
}

func (p Checks) links(ids []checkid.ID) string {
	var list []string
	for _, id := range ids {
		text := "`" + string(id) + "`"
		if slices.ContainsFunc(p.List, func(c check.Check) bool { return c.ID == id }) {
			text = "[" + text + "](../" + Path(id) + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func sure(c check.Check) string {
	switch c.Confidence {
	case finding.Certain:
		return "**Certain**: the finding alone explains the failure."
	case finding.Likely:
		return "**Likely**: it explains the failure, and something else still could. A certain cause comes before it."
	case finding.Possible:
		return "**Possible**: it may matter. A certain or likely cause comes before it."
	case finding.Symptom:
		return "**A symptom**: it says that something is wrong, and not why. A cause hides it."
	}
	return "**Advice**: nothing fails because of it. It is no incident, and nobody is called."
}

// detectedBy tells which function finds it, and when.
func detectedBy(c check.Check) string {
	var list []string
	if c.AtLaunch && c.IsWatchedBy(catalog.JoinCheck) {
		list = append(list, "launch-watch within seconds of the launch")
	}
	for _, d := range catalog.Detectors() {
		if !c.IsWatchedBy(d) {
			continue
		}
		list = append(list, map[catalog.Detector]string{
			catalog.JoinCheck:      "join-check when a launch is late",
			catalog.Sweep:          "join-check's sweep every five minutes, whether or not an instance fails to join",
			catalog.NodegroupWatch: "nodegroup-watch when a nodegroup changes, and every five minutes",
			catalog.SubnetWatch:    "subnet-watch every five minutes",
			catalog.ZoneWatch:      "zone-watch every five minutes, and when a nodegroup changes",
			catalog.SpotReport:     "spot-report every hour",
		}[d])
	}
	return "Found by " + strings.Join(list, "; by ") + "."
}

// urgent is incident.Severity in words.
func urgent(c check.Check) string {
	switch {
	case c.Proof == catalog.Impossible:
		return "Critical: it is about instances that are gone."
	case c.Breaks == catalog.Launching:
		return "Critical: the group gets no instances."
	case c.Breaks == catalog.Addresses:
		return "A warning while it is only foreseen, critical once launches or nodes are affected."
	case c.Breaks == catalog.Pods:
		return "Critical while pods wait for it, else a warning."
	case c.Breaks == catalog.Managed:
		return "A warning, critical once new instances do not become Ready."
	}
	if c.Confidence == finding.Certain {
		return "A warning until a launch meets it, then critical."
	}
	return "A warning until an instance that should be a node is late, then critical."
}

// ends tells what closes its incident.
func ends(c check.Check) string {
	switch c.Proof {
	case catalog.ByPassing:
		return "The incident closes when the check passes."
	case catalog.ByPassingUnmet:
		return "The incident closes when the check passes; if launches were affected, when a new node has joined."
	case catalog.Impossible:
		return "The incident closes when later launches join."
	}
	return "The incident closes when the check passes and a new node has joined."
}

// prose is a text of the catalogue, in which nothing is meant as HTML.
func prose(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }

// Alarms is the page of the stack's alarms, from the synthesised template.
func Alarms(template []byte) (string, error) {
	var t struct {
		Resources map[string]struct {
			Type       string
			Properties struct{ AlarmDescription string }
		}
	}
	if err := json.Unmarshal(template, &t); err != nil {
		return "", fmt.Errorf("read the template: %w", err)
	}
	var sections []string
	for id, r := range t.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		says, do, _ := strings.Cut(r.Properties.AlarmDescription, " Do: ")
		says, meanwhile, _ := strings.Cut(says, " Meanwhile: ")
		if do == "" || meanwhile == "" {
			return "", fmt.Errorf("alarm %s does not say what happens meanwhile, and what to do", id)
		}
		sections = append(sections, fmt.Sprintf("## %s\n\n%s\n\n**Meanwhile:** %s\n\n**Do:** %s\n", strings.TrimSuffix(id, "Alarm"), prose(says), prose(meanwhile), prose(do)))
	}
	if len(sections) == 0 {
		return "", fmt.Errorf("the template has no alarms")
	}
	slices.Sort(sections)
	return generated + "# Alarms\n\nAlarms go to the stack's topic ([`alarmTopicArn`, `alarmEmail`](settings.md)). None fires on deployment.\n\n" + strings.Join(sections, "\n"), nil
}

// choice is a setting by which a function may do more, chosen for one cluster.
type choice struct {
	setting string
	// off is the environment without it, on with it.
	off, on map[spec.Variable]string
}

// choices are the settings on which grants hang. That they are all is held by a test
// (TestEveryChoiceIsShown).
func choices() []choice {
	one := func(setting string, v spec.Variable, off, on string) choice {
		return choice{setting, map[spec.Variable]string{v: off}, map[spec.Variable]string{v: on}}
	}
	remedies := one("remedies", config.Remedies, "off", "prod=approve")
	remedies.on[config.RemedyVPCs] = "vpc-0a1b2c3d4e5f60718"
	remedies.on[config.RemedyRoles] = "arn:aws:iam::111122223333:role/nodes"
	cleanup := one("cleanup", config.Cleanup, "report", "prod=delete")
	cleanup.on[config.CleanupUntagged] = "vpc-0a1b2c3d4e5f60718"
	key := one("kmsKeyArn", config.KMSKey, "none", "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab")
	key.on[config.Evidence] = "30" // what is kept is encrypted with the key
	return []choice{
		one("evidence", config.Evidence, "off", "30"),
		key,
		one("decodeDenied", config.DecodeDenied, "off", "on"),
		one("autoModeLogs", config.AutoModeLogs, "off", "/aws/vendedlogs/eks/prod"),
		one("targets", config.Targets, "none", "sns,pagerduty=rollcall/pagerduty"),
		one("spokes", config.Spokes, "none", "222233334444/eu-west-1=payments"),
		cleanup,
		remedies,
	}
}

// chosenGrant is a grant that is there with any of these settings.
type chosenGrant struct {
	settings []string
	grant    spec.Grant
}

// chosenGrants are what settings add to a function's role.
func chosenGrants(s spec.Spec) ([]chosenGrant, error) {
	if s.Chosen == nil {
		return nil, nil
	}
	var list []chosenGrant
	for _, c := range choices() {
		env := map[spec.Variable]string{}
		for _, other := range choices() {
			for name, value := range other.off {
				env[name] = value
			}
		}
		for name, value := range c.on {
			env[name] = value
		}
		grants, err := s.Chosen(func(name string) string { return env[spec.Variable(name)] })
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", s.Name, c.setting, err)
		}
		for _, g := range grants {
			if i := slices.IndexFunc(list, func(have chosenGrant) bool {
				return have.grant.Sid == g.Sid && maps.EqualFunc(have.grant.Conditions, g.Conditions, equalValues)
			}); i >= 0 {
				list[i].settings = append(list[i].settings, c.setting)
				continue
			}
			list = append(list, chosenGrant{[]string{c.setting}, g})
		}
	}
	return list, nil
}

func equalValues(a, b map[string][]string) bool { return maps.EqualFunc(a, b, slices.Equal) }

// writeChosen writes what settings add.
func writeChosen(b *strings.Builder, list []chosenGrant) {
	if len(list) == 0 {
		return
	}
	b.WriteString("| only with | statement | may | on | why |\n|---|---|---|---|---|\n")
	for _, c := range list {
		settings := make([]string, len(c.settings))
		for i, name := range c.settings {
			settings[i] = fmt.Sprintf("[`%s`](settings.md#%s)", name, strings.ToLower(name))
		}
		fmt.Fprintf(b, "| %s %s\n", strings.Join(settings, " or "), grantRow(c.grant))
	}
	b.WriteString("\n")
}

// Command is the page of the command line: what --help prints of each command.
func Command(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(generated + "# The command rollcall\n\n")
	b.WriteString("One program that needs no deployment; [where to get it](release.md). `rollcall COMMAND --help` prints the same text. As `kubectl-rollcall` on the PATH it is `kubectl rollcall`.\n")
	commands := slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool { return c.Hidden || c.Name() == "help" || c.Name() == "completion" })
	for _, c := range commands {
		fmt.Fprintf(&b, "\n## rollcall %s\n\n%s.\n\n```text\n%s\n```\n", c.Name(), strings.TrimSuffix(c.Short, "."), strings.TrimSpace(help(c)))
	}
	return b.String()
}

// help is what --help prints.
func help(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	about := strings.TrimSpace(c.Long)
	if about == "" {
		about = c.Short
	}
	return about + "\n\n" + c.UsageString()
}

// families says what the families of checks are about, in the order of the list.
func families() map[checkid.Family]string {
	return map[checkid.Family]string{
		checkid.Route: "Routes", checkid.Endpoint: "VPC endpoints", checkid.SG: "Security groups", checkid.NACL: "Network ACLs", checkid.DNS: "DNS", checkid.IAM: "Roles and access", checkid.Instance: "The instance",
		checkid.Launch: "Launches that failed", checkid.Nodegroup: "Managed nodegroups", checkid.Cluster: "The cluster", checkid.Addon: "Add-ons", checkid.Node: "What Kubernetes says", checkid.IP: "Addresses",
		checkid.Spot: "Spot", checkid.Zone: "Zones and volumes", checkid.Karpenter: "Karpenter and EKS Auto Mode", checkid.CNI: "The network plugin",
	}
}

// Index is the list of all checks.
func (p Checks) Index() string {
	var b strings.Builder
	b.WriteString(generated + "# Checks\n\n")
	fmt.Fprintf(&b, "%d checks, each with its cause, its fix, what it reads and an example. `certain` means that the finding alone explains why a node could not join. ", len(p.List))
	b.WriteString("A check that could not read what it needs is *unknown*, never passed.\n")
	family := checkid.Family("")
	for _, c := range p.List {
		if c.ID.Family() != family {
			family = c.ID.Family()
			fmt.Fprintf(&b, "\n## %s\n\n| check | means | how sure | at launch |\n|---|---|---|---|\n", families()[family])
		}
		at := ""
		if c.AtLaunch {
			at = "yes"
		}
		fmt.Fprintf(&b, "| [`%s`](%s) | %s | %s | %s |\n", c.ID, Path(c.ID), Escape(c.Title), c.Confidence, at)
	}
	return b.String()
}

// Template is a template of CloudFormation, as far as its roles go.
type Template struct {
	Resources map[string]struct {
		Type       string
		Properties struct {
			AssumeRolePolicyDocument Policy
			Policies                 []struct{ PolicyDocument Policy }
		}
	}
}

// Policy is a policy's document.
type Policy struct{ Statement []Statement }

// Statement is one of a policy. What can be one or several is any.
type Statement struct {
	Sid, Effect                 string
	Action, Resource, Principal any
	Condition                   map[string]map[string]any
}

// Extra is a role that is not a function's own: who has it, and the template that makes it.
type Extra struct {
	Title, About string
	Template     Template
	// Role begins the role's logical id; empty for one that no template here has.
	Role string
}

// writeRole writes who may assume a role of a template, and what it allows.
func writeRole(b *strings.Builder, e Extra) error {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", e.Title, e.About)
	if e.Role == "" {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(e.Template.Resources)) {
		r := e.Template.Resources[id]
		if r.Type != "AWS::IAM::Role" || !strings.HasPrefix(id, e.Role) {
			continue
		}
		b.WriteString("| statement | effect | actions | on |\n|---|---|---|---|\n")
		for _, s := range r.Properties.AssumeRolePolicyDocument.Statement {
			row(b, "assumed by", s, s.Principal)
		}
		for _, p := range r.Properties.Policies {
			for _, s := range p.PolicyDocument.Statement {
				row(b, "`"+s.Sid+"`", s, s.Resource)
			}
		}
		return nil
	}
	return fmt.Errorf("no template has a role %s", e.Role)
}

func row(b *strings.Builder, name string, s Statement, on any) {
	where := code(valuesOf(on))
	for _, op := range slices.Sorted(maps.Keys(s.Condition)) {
		for _, key := range slices.Sorted(maps.Keys(s.Condition[op])) {
			where += ", only if `" + key + "` " + condition(op, valuesOf(s.Condition[op][key]))
		}
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, s.Effect, code(valuesOf(s.Action)), where)
}

// cdkHash is what CDK adds to a logical id.
var cdkHash = lazyregexp.New(`[0-9A-F]{8}\b`)

// valuesOf are a value's texts, each function of CloudFormation as Fn::Sub would have it.
func valuesOf(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			list = append(list, valuesOf(one)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch of := v[name]; name {
			case "Ref":
				list = append(list, "${"+strings.Join(valuesOf(of), "")+"}")
			case "Fn::GetAtt":
				list = append(list, "${"+cdkHash.ReplaceAllString(strings.Join(valuesOf(of), "."), "")+"}")
			case "Fn::Join":
				list = append(list, strings.Join(valuesOf(of), ""))
			default: // a kind of principal: "Service", "AWS"
				list = append(list, valuesOf(of)...)
			}
		}
	}
	return list
}

// Rights is the page of what each role may: of the functions from the specs that the policies
// are made of, of the others from the templates.
func Rights(list []spec.Spec, extra []Extra) (string, error) {
	var b strings.Builder
	b.WriteString(generated + "# Permissions of each role\n\n")
	b.WriteString("Each function has a role of its own with exactly these permissions; a test fails unless the calls in its code match the actions of its role. ")
	b.WriteString("The resource is `*` for actions without resource-level permissions (Describe and List calls). A role has the permissions under \"only with\" only if that setting is set; they are shown for a cluster `prod`. Roles that are not a function's own follow at the end: the reader, and those of spokes and relays. The permissions of each remedy are in [a table of their own](remedies.md#what-holds-for-each). [Security](security.md) explains why this is safe.\n")
	for _, s := range list {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", s.Name, s.About)
		writeReads(&b, s.Reads)
		writeGrants(&b, s.Grants)
		chosen, err := chosenGrants(s)
		if err != nil {
			return "", err
		}
		writeChosen(&b, chosen)
		writeKube(&b, s.Kube)
	}
	for _, e := range extra {
		if err := writeRole(&b, e); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func writeReads(b *strings.Builder, reads []spec.Read) {
	by := map[string][]string{}
	for _, r := range reads {
		on := strings.Join(r.Resources, ", ")
		by[on] = append(by[on], r.Actions...)
	}
	if len(by) == 0 {
		return
	}
	b.WriteString("| reads | on |\n|---|---|\n")
	for _, on := range slices.Sorted(maps.Keys(by)) {
		actions := slices.Compact(slices.Sorted(slices.Values(by[on])))
		fmt.Fprintf(b, "| %s | `%s` |\n", code(actions), on)
	}
	b.WriteString("\n")
}

func writeGrants(b *strings.Builder, grants []spec.Grant) {
	if len(grants) == 0 {
		return
	}
	b.WriteString("| statement | allows | on | why |\n|---|---|---|---|\n")
	for _, g := range grants {
		b.WriteString(grantRow(g) + "\n")
	}
	b.WriteString("\n")
}

// condition tells what IAM's operator asks of a key (IAM user guide, "IAM JSON policy
// elements: Condition operators").
func condition(op string, values []string) string {
	says, known := map[string]string{
		"StringEquals": "is", "StringEqualsIgnoreCase": "is", "StringLike": "matches", "StringNotEquals": "is not", "StringNotLike": "does not match",
		"ArnEquals": "is", "ArnLike": "matches", "Bool": "is",
		"ForAllValues:StringEquals": "is always", "ForAllValues:StringLike": "always matches",
		"ForAnyValue:StringEquals": "contains", "ForAnyValue:StringLike": "contains a match of",
		"NumericLessThanEquals": "is at most", "NumericGreaterThanEquals": "is at least", "NumericEquals": "is",
		"StringEqualsIfExists": "is absent or is",
	}[op]
	switch {
	case op == "Null" && len(values) == 1 && values[0] == "false":
		return "is present"
	case op == "Null" && len(values) == 1 && values[0] == "true":
		return "is absent"
	case !known:
		says = "is (" + op + ")"
	}
	return says + " " + code(values)
}

// grantRow is a grant as the cells of a row.
func grantRow(g spec.Grant) string {
	var on []string
	for _, r := range g.Resources {
		on = append(on, string(r))
	}
	where := code(on)
	for _, op := range slices.Sorted(maps.Keys(g.Conditions)) {
		for _, key := range slices.Sorted(maps.Keys(g.Conditions[op])) {
			where += ", only if `" + key + "` " + condition(op, g.Conditions[op][key])
		}
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", g.Sid, code(g.Actions), where, prose(strings.ReplaceAll(g.Why, "|", "\\|")))
}

func writeKube(b *strings.Builder, rules []spec.KubeRule) {
	if len(rules) == 0 {
		return
	}
	b.WriteString("| in a cluster | API group | allows |\n|---|---|---|\n")
	for _, r := range rules {
		what := code(r.Resources)
		if len(r.Names) > 0 {
			what += ", only " + code(r.Names)
		}
		if r.Namespace != "" {
			what += " in `" + r.Namespace + "`"
		}
		group := r.Group
		if group == "" {
			group = "core"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", what, group, code(r.Verbs))
	}
	b.WriteString("\n")
}

func code(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// Pasted is a text that a user met and pasted in public: those by which package text
// is tested.
type Pasted struct {
	Text   string       `json:"text"`
	Source string       `json:"source"`
	Want   []checkid.ID `json:"want"` // any of them is right
}

// ReadPasted reads a file of such texts.
func ReadPasted(raw []byte) ([]Pasted, error) {
	var list []Pasted
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	return list, nil
}

const (
	// mostTexts are shown of a check: enough to tell its forms.
	mostTexts = 8
	// longestText is one that a reader still compares with his own.
	longestText = 330
)

// Code is a code with which a call of AWS ends, or in which EKS reports on something.
type Code struct{ Name, Text string }

// ReadCodes reads a list of calls and codes, one of each a line.
func ReadCodes(raw string) (list []Code) {
	for _, line := range strings.Split(raw, "\n") {
		if call, code, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
			list = append(list, Code{code, fmt.Sprintf("An error occurred (%s) when calling the %s operation: it failed", code, call)})
		}
	}
	return list
}

// IssueCodes are EKS's, of nodegroups, add-ons, clusters and updates.
func IssueCodes() (list []Code) {
	add := func(code string) {
		list = append(list, Code{code, fmt.Sprintf(`{"health": {"issues": [{"code": %q, "message": "some words"}]}}`, code)})
	}
	for _, c := range ekstypes.NodegroupIssueCode("").Values() {
		add(string(c))
	}
	for _, c := range ekstypes.AddonIssueCode("").Values() {
		add(string(c))
	}
	for _, c := range ekstypes.ClusterIssueCode("").Values() {
		add(string(c))
	}
	for _, c := range ekstypes.ErrorCode("").Values() {
		add(string(c))
	}
	return list
}

// codesByCheck are the names of the codes that package text takes for each check.
func codesByCheck(codes []Code) map[checkid.ID][]string {
	by := map[checkid.ID][]string{}
	for _, code := range codes {
		id := text.Classify(code.Text).Check
		by[id] = append(by[id], code.Name)
	}
	for id, names := range by {
		slices.Sort(names)
		by[id] = slices.Compact(names)
	}
	return by
}

// Texts is the page of what AWS, Kubernetes and the node's programs say, by the check
// that looks for it; only what package text tells so is on it.
func (p Checks) Texts(pasted []Pasted, codes []Code) string {
	var b strings.Builder
	b.WriteString(generated + "# What an error message means\n\n")
	b.WriteString("Messages of EC2, Auto Scaling, EKS, Karpenter, the kubelet, containerd and Kubernetes about nodes that do not join, as people pasted them, with the check that finds the cause. ")
	b.WriteString("Yours has other ids: `rollcall explain \"…\"` explains any such text, whole logs too ([how](diagnose.md)). Messages of Rollcall itself are [on another page](troubleshoot.md).\n")
	told, codesOf := textsByCheck(pasted), codesByCheck(codes)
	for _, c := range p.List {
		list, names := told[c.ID], codesOf[c.ID]
		if len(list)+len(names) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n[`%s`](checks/%s)\n", Escape(c.Title), c.ID, Path(c.ID))
		if len(names) > 0 {
			fmt.Fprintf(&b, "\nCodes: %s\n", code(names))
		}
		for _, t := range list {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", t)
		}
	}
	return b.String()
}

// textsByCheck are texts that package text takes for a check that is right; of a check they
// differ in how they begin.
func textsByCheck(pasted []Pasted) map[checkid.ID][]string {
	by := map[checkid.ID][]string{}
	for _, s := range pasted {
		words := strings.TrimSpace(strings.ReplaceAll(strings.Join(strings.Fields(s.Text), " "), "```", ""))
		if len(words) > longestText {
			continue
		}
		id := text.Classify(s.Text).Check
		begin := words[:min(len(words), 40)]
		if len(by[id]) == mostTexts || !slices.Contains(s.Want, id) || slices.ContainsFunc(by[id], func(t string) bool { return strings.HasPrefix(t, begin) }) {
			continue
		}
		by[id] = append(by[id], words)
	}
	return by
}

// Markdown is a message of rich_text blocks. Pictures and buttons are left out; a block
// of another kind is an error, so that nothing is left out unseen.
func Markdown(blocks []slackgo.Block) (string, error) {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case *slackgo.RichTextBlock:
			text, err := richText(b)
			if err != nil {
				return "", err
			}
			parts = append(parts, text...)
		case *slackgo.ActionBlock, *slackgo.ImageBlock:
		default:
			return "", fmt.Errorf("a message has a block of type %s", b.BlockType())
		}
	}
	return strings.Join(parts, "\n\n") + "\n", nil
}

func richText(b *slackgo.RichTextBlock) ([]string, error) {
	var parts []string
	for _, e := range b.Elements {
		switch e := e.(type) {
		case *slackgo.RichTextSection:
			text, err := section(e.Elements)
			if err != nil {
				return nil, err
			}
			parts = append(parts, text)
		case *slackgo.RichTextPreformatted:
			parts = append(parts, "```text\n"+strings.TrimRight(plain(e.Elements), "\n")+"\n```")
		case *slackgo.RichTextList:
			var items []string
			for _, item := range e.Elements {
				s, ok := item.(*slackgo.RichTextSection)
				if !ok {
					return nil, fmt.Errorf("a list of a message has a %s", item.RichTextElementType())
				}
				text, err := section(s.Elements)
				if err != nil {
					return nil, err
				}
				items = append(items, "- "+text)
			}
			parts = append(parts, strings.Join(items, "\n"))
		default:
			return nil, fmt.Errorf("a message has a %s", e.RichTextElementType())
		}
	}
	return parts, nil
}

// section is a paragraph, with its lines broken where Slack breaks them.
func section(elements []slackgo.RichTextSectionElement) (string, error) {
	var b strings.Builder
	for _, e := range elements {
		switch e := e.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(styled(e.Text, e.Style))
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(styled(e.Text, e.Style)) // the console of an account that is not there
		case *slackgo.RichTextSectionDateElement:
			b.WriteString(e.Timestamp.Time().UTC().Format("15:04"))
		default:
			return "", fmt.Errorf("a message has a %s in a section", e.RichTextSectionElementType())
		}
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", "  \n"), nil
}

// plain is text as it is to be copied.
func plain(elements []slackgo.RichTextSectionElement) string {
	var b strings.Builder
	for _, e := range elements {
		switch e := e.(type) {
		case *slackgo.RichTextSectionTextElement:
			b.WriteString(e.Text)
		case *slackgo.RichTextSectionLinkElement:
			b.WriteString(e.Text)
		case *slackgo.RichTextSectionDateElement:
			b.WriteString(e.Timestamp.Time().UTC().Format(time.TimeOnly))
		}
	}
	return b.String()
}

// styled is text in HTML's own marks: those of Markdown do not take a word that ends
// within another, nor blanks at their ends.
func styled(text string, style *slackgo.RichTextSectionTextStyle) string {
	s := Escape(text)
	if style == nil {
		return s
	}
	if style.Code {
		s = "<code>" + s + "</code>"
	}
	if style.Bold {
		s = "<b>" + s + "</b>"
	}
	if style.Italic {
		s = "<i>" + s + "</i>"
	}
	return s
}

// marks are what Markdown would take for its own.
var marks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "|", "\\|", "~", "\\~")

// Escape is text that Markdown and HTML leave as it is.
func Escape(text string) string { return marks.Replace(text) }

// Release is a release with what its parts are compared by.
type Release struct {
	Name         string
	Spoke, Relay string // digests of what they do
	Samples      string // the folder below stage/release/testdata of what it stores
}

// Compatibility writes which hub works with which spoke, relay and stored data: of the releases
// that were tagged, and of the next one.
func Compatibility(tagged []Release, next Release) string {
	var b strings.Builder
	b.WriteString(generated + "# Which releases work together\n\n")
	b.WriteString("Hub, spokes and relays are deployed apart, and may be of different releases for a while. Upgrade the hub first. Where a row has the same value as the row of your hub, that part does the same and needs no new deployment; `rollcall doctor` compares them, and prints the command for each part that differs.\n\n")
	b.WriteString("| hub | spoke (tag `RollcallSpoke` of its role reader) | relay (tag `RollcallRelay` of its function) | stored records and queued messages |\n|---|---|---|---|\n")
	for _, r := range append(slices.Clone(tagged), next) {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | [%s](../stage/release/testdata/%[4]s) |\n", r.Name, r.Spoke, r.Relay, r.Samples)
	}
	b.WriteString("\nWith a part of another value:\n\n")
	b.WriteString("- **A spoke.** The hub watches it as before. What its role does not allow yet is *unknown*, and is posted once with the missing permission; events that it does not forward yet are found by the next sweep, within five minutes.\n")
	b.WriteString("- **A relay.** It forwards what it knows. A list that it refuses is *unknown* and is posted once, with the command that deploys the relay again.\n")
	b.WriteString("- **Stored data.** A hub reads what every release before it has stored, and keeps what a newer one has added: the tests play an upgrade from each sample, and back ([a new release, and back again](deploy.md#a-new-release-and-back-again)).\n")
	return b.String()
}
