// Package preflight judges what does not exist yet: a nodegroup, a version of a launch template, a
// NodePool with its class, a subnet. It puts the nodes that would be launched into a snapshot, as
// nodes that have missed their roll call, and asks the checks of every launch: there is no second set
// of rules. What only AWS refuses when the thing is made is said too (refusals.go), each with its
// source. It decides; package live reads.
package preflight

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnose"
	"rollcall/shared/diagnosis"
	"rollcall/shared/snapshot"
)

// Draft is a plan beside the account in which it would be carried out. What is
// planned is put into the snapshot in steps, for what is read next depends on
// it: Announce, then Settle, then Place, then Complete.
type Draft struct {
	Plan Plan
	S    *snapshot.Snapshot
	// exists reports whether there is one of the name already.
	exists bool
	// around are the subnets of the cluster's nodegroups.
	around []string
	// fleets are what would be launched: one, or one for each group that uses what
	// is planned.
	fleets []*nodes
	// planned are the instances that Place has made up.
	planned []string
}

// nodes are nodes that would be launched, alike but for the place and the type.
type nodes struct {
	owner   string // the nodegroup's, the NodePool's or the template's name
	subnets []string
	types   []string
	// template is the launch template that a user gives; nil for none, and
	// where it could not be read.
	template *snapshot.LaunchTemplate
	ref      snapshot.TemplateRef
	groups   []string // security groups
	role     string   // ARN
	profile  string   // ARN of the instance profile
	// made reports whether the profile is made with the nodes: EKS and Karpenter do.
	made   bool
	image  string // an AMI's id
	stocks []*snapshot.Image
	tags   map[string]string
	// metadata is how the metadata service is set, public what decides on a public
	// address: "true", "false", or empty for the subnet.
	metadata snapshot.Metadata
	public   string
	spot     bool
	windows  bool
	// told reports whether data is all that the nodes are given at their start.
	told bool
	data []byte // user data, as far as a user gives it
	from string // what gives it
	// pool and class are of what a NodePool launches, auto that EKS Auto Mode does.
	pool  *snapshot.NodePool
	class *snapshot.NodeClass
	auto  bool
	// bare reports whether it is known of a node only where it stands.
	bare bool
	// unlike reports whether it is known of no type what would be launched.
	unlike bool
}

// First are the sources that tell where what is planned would stand.
func (d *Draft) First() []snapshot.Source { return d.Plan.maker().first() }

// where are the sources of every plan.
func where(more ...snapshot.Source) []snapshot.Source {
	return append([]snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.VPCs}, more...)
}

// Announce puts into the snapshot what is launched from: what it names is read
// next, the launch template first.
func (d *Draft) Announce() { d.Plan.maker().announce(d) }

// Second are the sources to read then. Of other VPCs those security groups are read that
// a launch template or a class names.
func (d *Draft) Second() []snapshot.Source {
	return append(d.Plan.maker().second(), snapshot.SecurityGroups, snapshot.GroupAssociations)
}

// Settle says of what the nodes would be made.
func (d *Draft) Settle() { d.Plan.maker().settle(d) }

// Third are the sources to read then, of the types that may be launched.
func (d *Draft) Third() []snapshot.Source {
	list := []snapshot.Source{snapshot.InstanceTypes, snapshot.TypeOfferingsOf}
	if len(d.ImageTerms()) > 0 {
		list = append(list, snapshot.Images)
	}
	return list
}

// ImageTerms are the terms by which the classes select images; none where all of them
// name ids, which are read with the rest.
func (d *Draft) ImageTerms() []snapshot.SelectorTerm {
	var all []snapshot.SelectorTerm
	searched := false
	for _, n := range d.fleets {
		if n.class != nil && !n.auto {
			all = append(all, n.class.Images...)
			searched = searched || searches(n.class)
		}
	}
	if !searched {
		return nil
	}
	return all
}

// Named are the types to look up before Settle; none means that all may be
// launched.
func (d *Draft) Named() []string {
	if d.Plan.Pools != nil {
		return d.Plan.Pools.namedTypes()
	}
	return nil
}

// SecurityGroups are those that a planned version of a launch template names: it is in no
// account yet, and they may be another VPC's.
func (d *Draft) SecurityGroups() []string {
	if t := d.Plan.Template; t != nil && t.data != nil {
		return t.data.Groups
	}
	return nil
}

// Types are the instance types to describe.
func (d *Draft) Types() []string {
	var list []string
	for _, n := range d.fleets {
		list = append(list, n.types...)
	}
	return distinct(list)
}

// template is the version of the launch template that is named, as it was read.
func (d *Draft) template(ref snapshot.TemplateRef) *snapshot.LaunchTemplate {
	for i := range d.S.LaunchTemplates {
		t := &d.S.LaunchTemplates[i]
		named := ref.ID != "" && t.ID == ref.ID || ref.ID == "" && ref.Name != "" && t.Name == ref.Name
		if named && (t.Version == ref.Version || ref.Version == "$Latest" && t.Latest || (ref.Version == "$Default" || ref.Version == "") && t.Default) {
			return t
		}
	}
	return nil
}

// Place puts the nodes into the snapshot, one for each subnet and type, each as
// an instance that runs and has missed its roll call now. What only a launched
// instance has is read, and empty.
func (d *Draft) Place() {
	d.Plan.maker().choose(d)
	s := d.S
	var subnets []string
	for _, n := range d.fleets {
		d.makeProfile(n)
		mine := len(d.planned)
		for _, subnet := range n.subnets {
			for _, t := range d.offeredIn(d.zoneOf(subnet), n.types) {
				in := d.instance(n, subnet, t)
				d.planned = append(d.planned, in.ID)
				s.Instances = append(s.Instances, in)
				s.Launches = append(s.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: s.Time, Due: s.Time})
			}
		}
		subnets = append(subnets, n.subnets...)
		if n.told || len(n.data) > 0 || n.template == nil {
			s.UserData = append(s.UserData, snapshot.UserData{Instances: slices.Clone(d.planned[mine:]), From: n.from, Data: n.data})
		}
	}
	slices.SortFunc(s.Instances, func(a, b snapshot.Instance) int { return cmp.Compare(a.ID, b.ID) })
	subnets = distinct(subnets)
	s.Scope = snapshot.Scope{Instances: slices.Clone(d.planned), Subnets: subnets, Launchable: slices.Clone(subnets)}
	for _, source := range []snapshot.Source{snapshot.Nodes, snapshot.UserDataOf, snapshot.Instances, snapshot.Groups} {
		s.Read[source] = true
		delete(s.Failures, source)
	}
}

// planName identifies a planned node: it has no id.
func (d *Draft) planName(n *nodes, subnet, instanceType string) string {
	name := plannedPrefix
	if len(d.fleets) > 1 {
		name += n.owner + "-"
	}
	if len(n.types) > 1 {
		name += instanceType + "-"
	}
	return name + "node-in-" + subnet
}

func (d *Draft) instance(n *nodes, subnet, instanceType string) snapshot.Instance {
	s := d.S
	in := snapshot.Instance{
		ID: d.planName(n, subnet, instanceType), Type: instanceType, State: "running", Launched: s.Time,
		Subnet: subnet, AMI: n.image, Spot: n.spot, Groups: slices.Sorted(slices.Values(n.groups)), Profile: n.profile,
		Tags: maps.Clone(n.tags), Windows: n.windows, SourceCheck: true, Metadata: n.metadata,
	}
	if i := d.stockFor(n, instanceType); i != nil {
		in.AMI = i.ID
	}
	if n.template != nil {
		in.Template = snapshot.TemplateRef{ID: n.template.ID, Version: n.template.Version}
		for _, e := range n.template.EFAs {
			in.EFAs = append(in.EFAs, snapshot.EFA{Groups: cmpOr(e.Groups, in.Groups)})
		}
	}
	i := slices.IndexFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == subnet })
	if i < 0 {
		return in
	}
	in.VPC, in.Zone, in.PrivateDNS = s.Subnets[i].VPC, s.Subnets[i].Zone, hostName(s.Subnets[i], s.Region)
	if n.public == "true" || n.public == "" && s.Subnets[i].AssignPublicIP {
		// It would have a public address that is not known yet: as one that
		// does not show it yet. The interface of what is launched decides, else the
		// subnet (EC2 user guide, "Public IPv4 addresses").
		in.State = "pending"
	}
	return in
}

// stockFor is the image that the launcher would choose for a type; nil where
// a user names one.
func (d *Draft) stockFor(n *nodes, instanceType string) *snapshot.Image {
	if len(n.stocks) == 0 {
		return nil
	}
	for _, i := range n.stocks {
		if slices.ContainsFunc(d.S.InstanceTypes, func(t snapshot.InstanceType) bool {
			return t.Name == instanceType && slices.Contains(t.Architectures, i.Architecture)
		}) {
			return i
		}
	}
	return n.stocks[0]
}

// hostName is the name of a host of a subnet, of the first that EC2 would give
// (EC2 user guide, "EC2 instance hostname types": ip-10-0-0-4.ec2.internal in
// us-east-1). It tells how long names are.
func hostName(n snapshot.Subnet, region string) string {
	if !n.CIDR.IsValid() || !n.CIDR.Addr().Is4() {
		return ""
	}
	a := n.CIDR.Masked().Addr()
	for range 4 { // EC2 keeps the first four
		a = a.Next()
	}
	name := "ip-" + strings.ReplaceAll(a.String(), ".", "-")
	if region == "us-east-1" {
		return name + ".ec2.internal"
	}
	return name + "." + region + ".compute.internal"
}

func cmpOr(list, otherwise []string) []string {
	if len(list) > 0 {
		return list
	}
	return otherwise
}

// makeProfile makes the profile that EKS or Karpenter would make of a role.
func (d *Draft) makeProfile(n *nodes) {
	if !n.made || n.role == "" {
		return
	}
	n.profile = "arn:" + cmp.Or(d.S.Partition, "aws") + ":iam::" + d.S.Account + ":instance-profile/planned-" + n.owner
	d.S.Profiles = append(d.S.Profiles, snapshot.Profile{ARN: n.profile, Name: "planned-" + n.owner, Roles: []string{n.role}})
	d.S.Read[snapshot.Profiles] = true
}

// Complete adds what comes into being with the nodes, and could not stand in the
// snapshot while the rest was read.
func (d *Draft) Complete() {
	for _, n := range d.fleets {
		for _, i := range n.stocks {
			if slices.ContainsFunc(d.S.Images, func(have snapshot.Image) bool { return have.ID == i.ID }) {
				continue
			}
			d.S.Images = append(d.S.Images, *i)
			d.S.Read[snapshot.Images] = true
			delete(d.S.Failures, snapshot.Images)
		}
	}
	d.Plan.maker().admit(d)
}

func distinct(list []string) []string {
	var out []string
	for _, v := range list {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// ofLaunched are the sources of what only a launched instance has, and of what
// was launched before.
func ofLaunched(source snapshot.Source) bool {
	switch source {
	case snapshot.Consoles, snapshot.Statuses, snapshot.Activities, snapshot.NodeEventsOf, snapshot.CSRs, snapshot.Updates,
		snapshot.LaunchHistory, snapshot.NodeClaimsOf, snapshot.WaitingPods:
		return true
	}
	return false
}

// List are the checks that are asked: those of every launch and of the subnets'
// addresses that can judge without what only a launched instance has.
func List() []check.Check {
	var list []check.Check
	for _, c := range slices.Concat(checks.OfLaunches(), checks.OfAddresses()) {
		again := slices.ContainsFunc(list, func(have check.Check) bool { return have.ID == c.ID })
		if !again && !slices.ContainsFunc(c.Needs, ofLaunched) {
			list = append(list, c)
		}
	}
	return list
}

// Then are the sources that the checks ask for, beside those that are planned, and the
// settings of the account that refuse launches.
func (d *Draft) Then() []snapshot.Source {
	list := []snapshot.Source{snapshot.MetadataDefaultsOf}
	for _, c := range List() {
		for _, source := range slices.Concat(c.Needs, c.Uses) {
			if !slices.Contains(list, source) && !ofLaunched(source) {
				list = append(list, source)
			}
		}
	}
	slices.Sort(list)
	return list
}

// Verdict is what is said of a plan.
type Verdict struct {
	Plan Plan
	// Refused is what AWS would refuse when the thing is made; Causes is what
	// would keep its nodes from joining, or is advice, the first to be mended
	// first.
	Refused []Refusal
	Causes  []diagnosis.Cause
	Unknown []diagnosis.Unknown
}

// Fails reports whether it would not be made, or that nodes would not join. What is
// only possible may do harm to nodes that join.
func (v Verdict) Fails() bool {
	return len(v.Refused) > 0 || slices.ContainsFunc(v.Causes, func(c diagnosis.Cause) bool {
		return c.Confidence == finding.Certain || c.Confidence == finding.Likely
	})
}

// Judge asks the checks of what Complete has left.
func (d *Draft) Judge() Verdict {
	v := Verdict{Plan: d.Plan}
	r := d.refusals()
	unknown := r.unknown
	v.Refused = r.list
	if len(d.planned) == 0 {
		v.Causes, v.Unknown = r.advice, unknown
		return v
	}
	list, optional := List(), map[checkid.ID]bool{}
	for i := range list {
		// Nodes that have joined do not show that what was not read is in order.
		optional[list[i].ID], list[i].Optional = list[i].Optional, false
	}
	if slices.ContainsFunc(d.fleets, func(n *nodes) bool { return n.bare }) {
		list = slices.DeleteFunc(list, func(c check.Check) bool { return !ofPlace(c.ID) })
	}
	found := diagnose.Rank(list, check.Eval(list, d.S), d.S)
	for _, c := range found.Causes {
		if c.Confidence != finding.Symptom && !v.covers(c) && !d.byDesign(c) {
			v.Causes = append(v.Causes, would(c))
		}
	}
	v.Causes = append(v.Causes, r.advice...)
	for _, u := range found.Unknown {
		u.Blocked = slices.DeleteFunc(slices.Clone(u.Blocked), func(f snapshot.Failure) bool {
			return ofLaunched(f.Source) || (len(v.Refused) > 0 || optional[u.Check]) && !kept(f.Reason)
		})
		if len(u.Blocked) > 0 {
			unknown = append(unknown, u)
		}
	}
	v.Unknown = unknown
	return v
}

// byDesign reports whether a cause is how Karpenter and EKS Auto Mode set nodes up where
// no setting says otherwise: pods do not reach the metadata service (Karpenter,
// "spec.metadataOptions", defaults; EKS best practices, "Restrict access to the instance
// profile assigned to the worker node").
func (d *Draft) byDesign(c diagnosis.Cause) bool {
	return c.Check == checkid.InstanceIMDS && c.Confidence == finding.Possible && len(d.fleets) > 0 &&
		!slices.ContainsFunc(d.fleets, func(n *nodes) bool { return n.class == nil || n.class.Metadata.HopLimit != 0 })
}

// kept reports whether a call's failure kept Rollcall from reading. What is unknown for
// another reason beside a refusal follows from it: of a subnet that is not there no check
// can tell anything.
func kept(r snapshot.Reason) bool {
	return r == snapshot.Denied || r == snapshot.Throttled || r == snapshot.TimedOut || r == snapshot.Unreachable
}

// covers reports whether a refusal says already what a cause says.
func (v Verdict) covers(c diagnosis.Cause) bool {
	return slices.ContainsFunc(v.Refused, func(r Refusal) bool {
		return slices.ContainsFunc(append(slices.Clone(c.Resources), c.Resource), func(id string) bool { return slices.Contains(r.about, id) })
	})
}

// would words a cause for what is only planned: nothing of it is to be replaced,
// and there is no instance to be looked at or to change.
func would(c diagnosis.Cause) diagnosis.Cause {
	c.Symptoms = nil
	if strings.Contains(c.Fix.Command, plannedPrefix) {
		c.Fix.Command = ""
	}
	if strings.Contains(c.Fix.Console, plannedPrefix) {
		c.Fix.Console = ""
	}
	c.Fix.Remedy = "" // there is nothing yet to be remedied
	c.Fix.Text = withoutReplacing(c.Fix.Text)
	return c
}

// plannedPrefix begins the names of planned nodes and images.
const plannedPrefix = "planned-"

// withoutReplacing leaves out the sentences, and the ends of sentences, that tell
// to replace instances that run.
func withoutReplacing(text string) string {
	var kept []string
	for _, sentence := range strings.SplitAfter(text, ". ") {
		bare := strings.TrimRight(sentence, ". ")
		if i := replacing(bare); i == 0 {
			continue
		} else if i > 0 {
			sentence = strings.TrimRight(bare[:i], " ,;") + ". "
		}
		kept = append(kept, sentence)
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// replacing is where a sentence begins to tell of instances that run; -1 for
// none.
func replacing(sentence string) int {
	for _, phrase := range []string{
		"Then replace the instances", "Replace the instances", "Waiting nodes then join", "For running instances", "To give one to a running instance",
		"; then replace the instances", ", and replace the instances",
	} {
		if i := strings.Index(sentence, phrase); i >= 0 {
			return i
		}
	}
	return -1
}

// Kind is what is to be made.
type Kind string

// The kinds.
const (
	Nodegroup      Kind = "nodegroup"
	LaunchTemplate Kind = "launch template"
	NodePool       Kind = "NodePool"
	Subnet         Kind = "subnet"
)

// Plan is what is to be made, as its file says it.
type Plan struct {
	Kind Kind
	Name string
	// Cluster is the one that the file names.
	Cluster string
	// In are the subnets in which nodes of a launch template would stand, where
	// a user names them.
	In []string

	// One of these is there, by the kind.
	Nodegroup *NodegroupPlan
	Template  *TemplatePlan
	Pools     *PoolsPlan
	Subnet    *SubnetPlan
}

// Exists reports whether what is judged is there, and nodes of it are still to come.
func (p Plan) Exists() bool {
	return p.Template != nil && p.Template.data == nil || p.Subnet != nil && p.Subnet.made == nil
}

// maker is what differs between the kinds.
type maker interface {
	// first and second are what to read before the nodes are put into the
	// snapshot; announce comes between them.
	first() []snapshot.Source
	announce(*Draft)
	second() []snapshot.Source
	// settle says of what the nodes would be made, and where they would stand.
	settle(*Draft)
	// choose says which image and which of the types, once those were described.
	choose(*Draft)
	// admit adds what is made beside the nodes, once all was read.
	admit(*Draft)
	refuse(*refusing)
}

func (p Plan) maker() maker {
	switch {
	case p.Template != nil:
		return p.Template
	case p.Pools != nil:
		return p.Pools
	case p.Subnet != nil:
		return p.Subnet
	}
	return p.Nodegroup
}

// Misunderstood is a file that holds nothing that can be made, or not in the
// form in which AWS or Kubernetes takes it. Its text is one line.
type Misunderstood struct {
	// At is the field, "scalingConfig.minSize"; empty for the whole file.
	At  string
	Why string
}

func (m *Misunderstood) Error() string {
	if m.At == "" {
		return m.Why
	}
	return m.At + ": " + m.Why
}

func misunderstood(at, format string, args ...any) error {
	return &Misunderstood{At: at, Why: fmt.Sprintf(format, args...)}
}

// most is how large a file may be: the largest that AWS takes of these is user
// data of 16 KiB and a little around it.
const most = 1 << 20

// whatFits ends a line that says what a file is not.
const whatFits = "want what `aws eks create-nodegroup`, `aws ec2 create-launch-template-version` or `aws ec2 create-subnet` takes with --cli-input-json, " +
	"or a manifest of a NodePool with its EC2NodeClass or NodeClass"

// Parse reads what is to be made. The error is a *Misunderstood.
func Parse(data []byte) (Plan, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	switch {
	case len(data) == 0:
		return Plan{}, misunderstood("", "the file is empty: %s", whatFits)
	case len(data) > most:
		return Plan{}, misunderstood("", "the file is larger than %d KiB: %s", most>>10, whatFits)
	case data[0] != '{':
		return parseManifests(data)
	}
	return parseJSON(data)
}

// parseJSON tells by the fields that only one of them has what a document is.
func parseJSON(data []byte) (Plan, error) {
	var tree map[string]any
	if err := decodeOne(data, &tree); err != nil {
		return Plan{}, err
	}
	has := func(key string) bool { _, ok := tree[key]; return ok }
	kinds := 0
	for _, one := range []bool{has("nodegroupName") || has("nodeRole"), has("LaunchTemplateData") || has("LaunchTemplateVersions"), has("CidrBlock"), has("apiVersion")} {
		if one {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return Plan{}, misunderstood("", "it holds two kinds of things at once: put each into a file of its own; %s", whatFits)
	case has("apiVersion"):
		return parseManifests(data)
	case has("nodegroup"):
		return Plan{}, misunderstood("nodegroup", "it is what describe-nodegroup printed, and this nodegroup exists: %s", whatFits)
	case has("nodegroupName") || has("nodeRole"):
		return parseNodegroup(data, tree)
	case has("LaunchTemplateData") || has("LaunchTemplateVersions"):
		return parseTemplate(data, tree)
	case has("Subnets"):
		return Plan{}, misunderstood("Subnets", "it is what describe-subnets printed, and these subnets exist: name one by its id, with -subnet")
	case has("CidrBlock") || has("VpcId"):
		return parseSubnet(data, tree)
	}
	return Plan{}, misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
}

func parseNodegroup(data []byte, tree map[string]any) (Plan, error) {
	var n NodegroupPlan
	if err := strict(data, tree, &n, "create-nodegroup"); err != nil {
		return Plan{}, err
	}
	// The four that the request model requires.
	for _, f := range []struct {
		name  string
		lacks bool
	}{{"clusterName", n.ClusterName == ""}, {"nodegroupName", n.NodegroupName == ""}, {"subnets", len(n.Subnets) == 0}, {"nodeRole", n.NodeRole == ""}} {
		if f.lacks {
			return Plan{}, misunderstood(f.name, "create-nodegroup requires it")
		}
	}
	return Plan{Kind: Nodegroup, Name: n.NodegroupName, Cluster: n.ClusterName, Nodegroup: &n}, nil
}

// decodeOne decodes one JSON document, and tells where it is none.
func decodeOne(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	err := d.Decode(into)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return misunderstood("", "it is not JSON: line %d: %v", line(data, syntax.Offset), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return misunderstood("", "it is not JSON: it ends too early")
	case err != nil:
		return misunderstood("", "it is not JSON: %v", err)
	}
	if d.More() {
		return misunderstood("", "it holds more than one JSON document")
	}
	return nil
}

func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// strict decodes a document in which every field must be one that the operation
// has, in its very letters: the AWS CLI refuses others ("Unknown parameter in input").
func strict(data []byte, tree any, into any, operation string) error {
	if at, ok := unknownField(tree, reflect.TypeOf(into).Elem(), ""); ok {
		return misunderstood(at, "%s has no such field", operation)
	}
	err := json.Unmarshal(data, into)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return misunderstood(kind.Field, "want %s, got %s", plainType(kind.Type), kind.Value)
	}
	if err != nil {
		return misunderstood("", "it is not JSON: %v", err)
	}
	return nil
}

func plainType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return plainType(t.Elem())
	}
	return t.String()
}

// unknownField is the first field, in the order of letters, that a type has not.
func unknownField(tree any, t reflect.Type, at string) (string, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := tree.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return "", false
		}
		for i, item := range v {
			if name, ok := unknownField(item, t.Elem(), fmt.Sprintf("%s[%d]", at, i)); ok {
				return name, true
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return "", false
		}
		for _, key := range sortedKeys(v) {
			f, ok := fieldNamed(t, key)
			if !ok {
				return strings.TrimPrefix(at+"."+key, "."), true
			}
			if name, ok := unknownField(v[key], f.Type, strings.TrimPrefix(at+"."+key, ".")); ok {
				return name, true
			}
		}
	}
	return "", false
}

func fieldNamed(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == key && name != "-" && t.Field(i).IsExported() {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// SubnetPlan is a subnet: one that is there and takes no nodes yet, or one that is
// to be made.
type SubnetPlan struct {
	id   string
	made *subnetDoc // nil for one that is there
	// others are the subnets of the VPC beside it.
	others []snapshot.Subnet
}

// subnetDoc is what ec2 create-subnet takes (botocore 1.43, ec2,
// CreateSubnetRequest).
type subnetDoc struct {
	VpcId             string `json:"VpcId"`
	CidrBlock         string `json:"CidrBlock"`
	Ipv6CidrBlock     string `json:"Ipv6CidrBlock"`
	AvailabilityZone  string `json:"AvailabilityZone"`
	ZoneID            string `json:"AvailabilityZoneId"`
	TagSpecifications []struct {
		ResourceType string `json:"ResourceType"`
		Tags         []struct {
			Key   string `json:"Key"`
			Value string `json:"Value"`
		} `json:"Tags"`
	} `json:"TagSpecifications"`
	Ipv6Native        *bool `json:"Ipv6Native"`
	OutpostArn        any   `json:"OutpostArn"`
	Ipv4IpamPoolId    any   `json:"Ipv4IpamPoolId"`
	Ipv4NetmaskLength any   `json:"Ipv4NetmaskLength"`
	Ipv6IpamPoolId    any   `json:"Ipv6IpamPoolId"`
	Ipv6NetmaskLength any   `json:"Ipv6NetmaskLength"`
	DryRun            *bool `json:"DryRun"`
}

// ParseSubnet reads a subnet's id.
func ParseSubnet(id string) (Plan, error) {
	if !strings.HasPrefix(id, "subnet-") || len(id) == len("subnet-") {
		return Plan{}, misunderstood("", "%s: want a subnet's id, subnet-0abc", id)
	}
	return Plan{Kind: Subnet, Name: id, Subnet: &SubnetPlan{id: id}}, nil
}

func parseSubnet(data []byte, tree map[string]any) (Plan, error) {
	var doc subnetDoc
	if err := strict(data, tree, &doc, "create-subnet"); err != nil {
		return Plan{}, err
	}
	switch {
	case doc.VpcId == "":
		return Plan{}, misunderstood("VpcId", "create-subnet requires it")
	case doc.CidrBlock == "":
		return Plan{}, misunderstood("CidrBlock", "it is needed here: what a pool of IPAM would give is not known")
	}
	for _, cidr := range []struct{ at, text string }{{"CidrBlock", doc.CidrBlock}, {"Ipv6CidrBlock", doc.Ipv6CidrBlock}} {
		if _, err := netip.ParsePrefix(cidr.text); cidr.text != "" && err != nil {
			return Plan{}, misunderstood(cidr.at, "%q is no range: write it as 10.0.64.0/20", cidr.text)
		}
	}
	return Plan{Kind: Subnet, Name: doc.CidrBlock + " of " + doc.VpcId, Subnet: &SubnetPlan{id: plannedPrefix + "subnet", made: &doc}}, nil
}

func (p *SubnetPlan) first() []snapshot.Source {
	return where(snapshot.Nodegroups, snapshot.NetworkACLs, snapshot.ZonesOf)
}

func (p *SubnetPlan) second() []snapshot.Source { return []snapshot.Source{snapshot.LaunchTemplates} }

// announce puts the subnet into the VPC, as EC2 makes it: without a route table or a
// network ACL of its own (EC2 user guide, "Subnets for your VPC"). The nodegroups
// of the cluster say what would be launched there.
func (p *SubnetPlan) announce(d *Draft) {
	s := d.S
	s.Groups = nil
	for i := range s.Nodegroups {
		s.Nodegroups[i].Subnets = []string{p.id}
		s.Groups = append(s.Groups, managedGroup(d, &s.Nodegroups[i]))
	}
	if p.made == nil {
		return
	}
	block, _ := netip.ParsePrefix(p.made.CidrBlock)
	made := snapshot.Subnet{ID: p.id, VPC: p.made.VpcId, Zone: p.zone(s), CIDR: block.Masked(), Free: max(0, 1<<min(30, 32-block.Bits())-reserved), Tags: map[string]string{}}
	for _, v := range s.VPCs {
		if v.ID == made.VPC {
			made.BlockMode = v.BlockMode // nothing excludes what is not there yet
		}
	}
	if six, err := netip.ParsePrefix(p.made.Ipv6CidrBlock); err == nil {
		made.IPv6 = []netip.Prefix{six.Masked()}
	}
	for _, spec := range p.made.TagSpecifications {
		for _, tag := range spec.Tags {
			made.Tags[tag.Key] = tag.Value
		}
	}
	p.others = slices.Clone(s.Subnets)
	if made.VPC != s.Cluster.VPC || len(p.refusedRange(s)) > 0 {
		return
	}
	s.Subnets = append(s.Subnets, made)
	slices.SortFunc(s.Subnets, func(a, b snapshot.Subnet) int { return cmp.Compare(a.ID, b.ID) })
	for i := range s.NetworkACLs {
		if a := &s.NetworkACLs[i]; a.Default && a.VPC == made.VPC {
			a.Subnets = append(slices.Clone(a.Subnets), p.id)
		}
	}
}

// reserved are the addresses of a subnet that EC2 keeps (EC2 user guide, "Subnet
// CIDR blocks").
const reserved = 5

// zone is the zone that is asked for; empty where EC2 chooses.
func (p *SubnetPlan) zone(s *snapshot.Snapshot) string {
	if p.made.AvailabilityZone != "" || p.made.ZoneID == "" {
		return p.made.AvailabilityZone
	}
	for _, z := range s.Zones {
		if z.ID == p.made.ZoneID {
			return z.Name
		}
	}
	return ""
}

// settle launches there what the nodegroups launch; where there is none, a node of
// which nothing is known but that it stands there.
func (p *SubnetPlan) settle(d *Draft) {
	s := d.S
	var subnets []string
	if slices.ContainsFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == p.id }) {
		subnets = []string{p.id}
	}
	for i := range s.Nodegroups {
		g := &s.Nodegroups[i]
		n := &nodes{owner: g.Name, ref: g.Template, subnets: subnets, template: d.template(g.Template)}
		d.fleets = append(d.fleets, n)
		d.manage(n, i)
	}
	if len(d.fleets) > 0 {
		return
	}
	n := &nodes{owner: "node", subnets: subnets, types: []string{defaultType}, bare: true, metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"}}
	if s.Cluster.SecurityGroup != "" {
		n.groups = []string{s.Cluster.SecurityGroup}
	}
	n.tags = map[string]string{"kubernetes.io/cluster/" + s.Cluster.Name: "owned"}
	d.fleets = []*nodes{n}
}

func (p *SubnetPlan) choose(d *Draft) {
	for i := range d.S.Nodegroups {
		d.chooseImage(d.fleets[i], i)
	}
}

// admit leaves all as it is: the nodegroups are there.
func (p *SubnetPlan) admit(*Draft) {}

// ofPlace tells the checks that need only know where a node stands.
func ofPlace(id checkid.ID) bool {
	family, _, _ := strings.Cut(string(id), "/")
	return slices.Contains([]string{"route", "endpoint", "sg", "nacl", "dns", "ip"}, family)
}
