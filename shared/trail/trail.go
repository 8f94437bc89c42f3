// Package trail says what was changed before an incident: which write calls in
// CloudTrail's records are about the resources of its cause, between the last
// launch that joined and the first that did not. It is pure: who reads
// CloudTrail hands it the records.
package trail

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Record is what is kept of a CloudTrail record. The request's parameters are
// kept as far as they are names: they may hold secrets, and are only compared,
// never shown.
type Record struct {
	ID     string
	At     time.Time
	Source string // ec2.amazonaws.com
	Call   string // DeleteRoute
	// ReadOnly is set where it changes nothing.
	ReadOnly bool
	// Error is the code of a call that was refused.
	Error string
	Actor Actor
	// Asked and Answered are the short texts of the request and of the answer.
	Asked, Answered []Text
}

// Text is a text in a record, and the name of the field that it stands in.
type Text struct{ Field, Value string }

// has reports whether one of the fields, or any field where none is given, has
// the value.
func has(list []Text, value string, fields ...string) bool {
	return slices.ContainsFunc(list, func(t Text) bool {
		return t.Value == value && (len(fields) == 0 || slices.Contains(fields, t.Field))
	})
}

var errNoEvent = errors.New("it has no id, time, source or name")

// Decode reads a record as CloudTrail writes it.
func Decode(text []byte) (Record, error) {
	var r struct {
		ID       string          `json:"eventID"`
		Time     time.Time       `json:"eventTime"`
		Source   string          `json:"eventSource"`
		Name     string          `json:"eventName"`
		ReadOnly bool            `json:"readOnly"`
		Error    string          `json:"errorCode"`
		Address  string          `json:"sourceIPAddress"`
		Identity identity        `json:"userIdentity"`
		Request  json.RawMessage `json:"requestParameters"`
		Answer   json.RawMessage `json:"responseElements"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("decode a CloudTrail record: %w", err)
	}
	if r.ID == "" || r.Time.IsZero() || r.Source == "" || r.Name == "" {
		return Record{}, fmt.Errorf("decode a CloudTrail record: %w", errNoEvent)
	}
	// EC2's codes begin with the side that is at fault: "Client.DryRunOperation".
	code := r.Error
	for _, side := range []string{"Client.", "Server."} {
		code = strings.TrimPrefix(code, side)
	}
	return Record{
		ID: r.ID, At: r.Time.UTC(), Source: r.Source, Call: r.Name, ReadOnly: r.ReadOnly, Error: code,
		Actor: r.Identity.actor(r.Address), Asked: texts(r.Request), Answered: texts(r.Answer),
	}, nil
}

const (
	// longest is of a name: the ARN of a role, which has the longest of those that
	// we look for, has a path of 512 characters and a name of 64 (IAM's quotas).
	// Policies and user data are longer.
	longest = 640
	// deepest and mostTexts bound a record that is not what it should be.
	deepest   = 20
	mostTexts = 2000
)

// texts are the short texts of a JSON value. EC2 nests some parameters under
// the name of the request, and lists under "items" or "content": a text has the
// name of the nearest field that says what it is.
func texts(raw json.RawMessage) []Text {
	if len(raw) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	var list []Text
	var walk func(field string, v any, depth int)
	walk = func(field string, v any, depth int) {
		if depth > deepest || len(list) >= mostTexts {
			return
		}
		switch v := v.(type) {
		case string:
			if v != "" && len(v) <= longest {
				list = append(list, Text{field, v})
			}
		case []any:
			for _, item := range v {
				walk(field, item, depth+1)
			}
		case map[string]any:
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				under := lowered(name)
				if under == "ipPermissions" {
					continue // the rules of a group name others
				}
				if under == "items" || under == "content" || under == "member" {
					under = field
				}
				walk(under, v[name], depth+1)
			}
		}
	}
	walk("", v, 0)
	return list
}

// lowered is a field's name in lower camel case: newer calls of EC2 write theirs
// with a capital.
func lowered(name string) string {
	if name == "" {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// Actor is who made a call.
type Actor struct {
	// Name is a user's, or a role's with its session's.
	Name string
	// Principal is the ARN.
	Principal string
	// By is the service that called in the actor's name.
	By string
	// Role and Session are those of an assumed role.
	Role, Session string
}

// identity is CloudTrail's userIdentity, as far as it is read.
type identity struct {
	Type      string `json:"type"`
	ARN       string `json:"arn"`
	Account   string `json:"accountId"`
	UserName  string `json:"userName"`
	InvokedBy string `json:"invokedBy"`
	Principal string `json:"principalId"`
	Session   struct {
		Issuer struct {
			UserName string `json:"userName"`
		} `json:"sessionIssuer"`
	} `json:"sessionContext"`
}

// sso begins the names of the roles that IAM Identity Center makes; their
// sessions bear the person's name.
const sso = "AWSReservedSSO_"

func (i identity) actor(address string) Actor {
	a := Actor{Principal: i.ARN, By: i.InvokedBy}
	if a.By == "" && strings.HasSuffix(address, ".amazonaws.com") {
		a.By = address
	}
	switch i.Type {
	case "AssumedRole":
		a.Role, a.Session = i.assumed()
		switch {
		case a.Role == "":
			a.Name = a.Session
		case a.Session == "":
			a.Name = a.Role
		case strings.HasPrefix(a.Role, sso):
			a.Name = a.Session
		default:
			a.Name = a.Role + "/" + a.Session
		}
	case "Root":
		a.Name = "root"
	case "AWSService":
		// The service itself, not in another's name.
		a.Name, a.By = a.By, ""
	case "AWSAccount":
		a.Name = "account " + i.Account
	case "FederatedUser":
		a.Name = last(i.ARN)
	}
	for _, other := range []string{i.UserName, last(i.ARN), i.Principal, a.By} {
		if a.Name == "" {
			a.Name = other
		}
	}
	if a.Name == "" {
		a.Name = "unknown"
	}
	return a
}

// assumed are the role and session of arn:aws:sts::111122223333:assumed-role/role/session.
func (i identity) assumed() (role, session string) {
	_, rest, ok := strings.Cut(i.ARN, ":assumed-role/")
	if !ok {
		return i.Session.Issuer.UserName, ""
	}
	role, session, _ = strings.Cut(rest, "/")
	return role, session
}

func last(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// MaxChanges is how many changes are listed: a person reads the newest few.
const MaxChanges = 8

// Changes are the write calls in the window about the targets, the newest
// first; more is how many are left out. Of those that were refused, which
// changed nothing, the others are preferred. Own are Rollcall's own functions.
func Changes(records []Record, targets []Target, w Window, own []Function) (list []report.Change, more int) {
	all := slices.Clone(records)
	slices.SortStableFunc(all, func(a, b Record) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) })
	all = slices.CompactFunc(all, func(a, b Record) bool { return a.ID == b.ID })
	associations := associated(all, targets)
	for _, r := range all {
		if r.ReadOnly || !w.holds(r.At) || r.Error == dryRun {
			continue
		}
		name, ok := about(r, targets, associations)
		if !ok {
			continue
		}
		list = merge(list, change(r, name, own))
	}
	if len(list) <= MaxChanges {
		return list, 0
	}
	more = len(list) - MaxChanges
	for i := len(list) - 1; i >= 0 && len(list) > MaxChanges; i-- {
		if list[i].Error != "" {
			list = slices.Delete(list, i, i+1)
		}
	}
	return first(list, MaxChanges), more
}

// dryRun is EC2's answer to a call that only asks whether it would be allowed.
const dryRun = "DryRunOperation"

// merge adds a change, or counts it with the same one of the same actor.
func merge(list []report.Change, c report.Change) []report.Change {
	for i := range list {
		same := list[i]
		if same.Call == c.Call && same.Resource == c.Resource && same.Actor == c.Actor && same.Principal == c.Principal && same.By == c.By && same.Error == c.Error {
			// The first one's id: what CloudTrail brings later does not change it.
			list[i].ID, list[i].Times = c.ID, max(list[i].Times, 1)+1
			return list
		}
	}
	return append(list, c)
}

// Function is one of Rollcall's own, as CloudTrail knows it.
type Function struct {
	// Session is the name of its sessions, Role what the name of its role holds
	// beside what CloudFormation adds: lower-case letters alone.
	Session, Role string
}

// matches reports whether an actor is the function. The session's name alone proves
// nothing: whoever takes on a role chooses it.
func (f Function) matches(a Actor) bool {
	letters := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(a.Role))
	return a.Session == f.Session && strings.Contains(letters, f.Role)
}

func change(r Record, name string, own []Function) report.Change {
	c := report.Change{ID: r.ID, At: r.At, Call: r.Call, Resource: name, Actor: r.Actor.Name, Principal: r.Actor.Principal, By: r.Actor.By, Error: r.Error}
	if slices.ContainsFunc(own, func(f Function) bool { return f.matches(r.Actor) }) {
		c.Actor = "Rollcall"
	}
	return c
}

// about is the first target that a record is about. An association that was
// replaced or taken away names neither subnet nor table: it is known by the call
// that made it.
func about(r Record, targets []Target, associations map[string]string) (string, bool) {
	for _, t := range targets {
		if t.matches(r) {
			return t.Name, true
		}
	}
	if r.Source == ec2 && (r.Call == "DisassociateRouteTable" || r.Call == "ReplaceRouteTableAssociation") {
		for _, text := range r.Asked {
			if subnet, ok := associations[text.Value]; ok && text.Field == "associationId" {
				return subnet, true
			}
		}
	}
	return "", false
}

// associated are the associations of the targets' subnets, by id. A replaced
// one goes on under another id, so they are followed from the oldest on.
func associated(newestFirst []Record, targets []Target) map[string]string {
	known := map[string]string{}
	for _, r := range slices.Backward(newestFirst) {
		if r.Source != ec2 || r.Error != "" || !slices.Contains(associating(), r.Call) {
			continue
		}
		subnet := ""
		for _, text := range r.Asked {
			if id, ok := known[text.Value]; ok && text.Field == "associationId" {
				subnet = id
			}
			if text.Field == "subnetId" && slices.Contains(targets, Target{Kind: Subnet, Name: text.Value}) {
				subnet = text.Value
			}
		}
		if subnet == "" {
			continue
		}
		for _, text := range r.Answered {
			if text.Field == "associationId" || text.Field == "newAssociationId" {
				known[text.Value] = subnet
			}
		}
	}
	return known
}

// Lookup is one thing to ask CloudTrail for.
type Lookup struct {
	// Resource or Call is set: what CloudTrail is to look for.
	Resource, Call string
	Start, End     time.Time
	// Global is set where the records are where IAM's are, whatever region this is.
	Global bool
}

// mostCalls is how many names of calls are looked up for an incident.
const mostCalls = 10

// Lookups are what to ask CloudTrail for. By name it lists those records beside
// which it names the resource. It does not name it beside all: of a route that
// was deleted or a table that was exchanged it may list nothing. So the rare
// calls that change such a thing are looked up too, by their own names, and
// told by their requests.
func Lookups(targets []Target, w Window) []Lookup {
	var list []Lookup
	for _, t := range targets {
		if t.Kind != Access {
			list = append(list, Lookup{Resource: t.Name, Start: w.start, End: w.To, Global: t.global()})
		}
	}
	seen := 0
	for _, t := range targets {
		for _, call := range t.calls() {
			l := Lookup{Call: call, Start: w.start, End: w.To, Global: t.global()}
			if slices.Contains(associating(), call) {
				// Who made the association that was taken away later.
				l.Start = w.oldest
			}
			if seen < mostCalls && !slices.Contains(list, l) {
				list = append(list, l)
				seen++
			}
		}
	}
	return list
}

// global reports whether the target's calls are recorded in one region alone.
func (t Target) global() bool { return t.Kind == Role || t.Kind == Profile }

// associating are the calls whose answers name an association of a subnet with
// a route table.
func associating() []string { return []string{"AssociateRouteTable", "ReplaceRouteTableAssociation"} }

// calls are those that change what the target does to nodes, the most likely
// first.
func (t Target) calls() []string {
	switch t.Kind {
	case RouteTable:
		return []string{"DeleteRoute", "ReplaceRoute", "CreateRoute", "ReplaceRouteTableAssociation", "AssociateRouteTable", "DisassociateRouteTable"}
	case Subnet:
		return []string{"ReplaceRouteTableAssociation", "AssociateRouteTable", "DisassociateRouteTable", "ReplaceNetworkAclAssociation", "ModifySubnetAttribute"}
	case SecurityGroup:
		return []string{"RevokeSecurityGroupIngress", "RevokeSecurityGroupEgress", "ModifySecurityGroupRules", "AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress"}
	case NetworkACL:
		return []string{"CreateNetworkAclEntry", "ReplaceNetworkAclEntry", "DeleteNetworkAclEntry", "ReplaceNetworkAclAssociation"}
	case NATGateway:
		return []string{"DeleteNatGateway", "DisassociateNatGatewayAddress"}
	case Gateway:
		return []string{"DetachInternetGateway", "DeleteInternetGateway"}
	case Endpoint:
		return []string{"ModifyVpcEndpoint", "DeleteVpcEndpoints"}
	case VPC:
		return []string{"ModifyVpcAttribute", "AssociateDhcpOptions"}
	case TransitGateway:
		return []string{"DeleteTransitGatewayVpcAttachment", "ModifyTransitGateway"}
	case LaunchTemplate:
		return []string{"CreateLaunchTemplateVersion", "ModifyLaunchTemplate", "DeleteLaunchTemplateVersions"}
	case Role:
		return []string{"DetachRolePolicy", "DeleteRolePolicy", "PutRolePolicy", "AttachRolePolicy", "UpdateAssumeRolePolicy", "RemoveRoleFromInstanceProfile"}
	case Profile:
		return []string{"RemoveRoleFromInstanceProfile", "AddRoleToInstanceProfile", "DeleteInstanceProfile"}
	case Access:
		return []string{"DeleteAccessEntry", "UpdateAccessEntry", "CreateAccessEntry"}
	case Nodegroup:
		return []string{"UpdateNodegroupConfig", "UpdateNodegroupVersion", "CreateNodegroup"}
	case Group:
		return []string{"UpdateAutoScalingGroup", "SuspendProcesses"}
	case Cluster:
		return []string{"UpdateClusterConfig", "UpdateClusterVersion", "DeleteAccessEntry"}
	case Addon:
		return []string{"UpdateAddon", "DeleteAddon", "CreateAddon"}
	}
	return nil
}

// changes reports whether a call of EC2 changes things of the target's kind. Many
// calls only name one: a launch its subnet, its security groups and its launch
// template, a route of another table the NAT gateway that it leads to.
func (t Target) changes(call string) bool {
	words := map[Kind][]string{
		RouteTable:     {"Route", "VpcEndpoint"}, // a gateway endpoint has its routes in tables
		Subnet:         {"Subnet", "RouteTable", "NetworkAcl"},
		SecurityGroup:  {"SecurityGroup"},
		NetworkACL:     {"NetworkAcl"},
		NATGateway:     {"NatGateway"},
		Gateway:        {"InternetGateway"},
		Endpoint:       {"VpcEndpoint"},
		VPC:            {"VpcAttribute", "DhcpOptions", "VpcCidrBlock", "DeleteVpc", "CreateVpc"},
		TransitGateway: {"TransitGateway"},
		LaunchTemplate: {"LaunchTemplate"},
	}[t.Kind]
	return words == nil || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(call, w) })
}

// Kind is what a target is.
type Kind string

// The kinds. The first are known by their ids.
const (
	RouteTable     Kind = "rtb"
	Subnet         Kind = "subnet"
	SecurityGroup  Kind = "sg"
	NetworkACL     Kind = "acl"
	NATGateway     Kind = "nat"
	Gateway        Kind = "igw"
	Endpoint       Kind = "vpce"
	VPC            Kind = "vpc"
	TransitGateway Kind = "tgw"
	LaunchTemplate Kind = "lt"
	Other          Kind = "other" // another thing of EC2 with an id of its own

	Role      Kind = "role"
	Access    Kind = "access" // the access entries of a role
	Profile   Kind = "instance-profile"
	Nodegroup Kind = "nodegroup"
	Group     Kind = "group" // Auto Scaling group
	Cluster   Kind = "cluster"
	Addon     Kind = "addon"
)

// Target is a resource whose changes are looked for.
type Target struct {
	Kind Kind
	// Name is its id or name, as it stands in records. Of a role it is the
	// name, of its access entries the ARN.
	Name string
	// Cluster is the cluster's, for what is named within one.
	Cluster string
}

// How many of each are looked at. CloudTrail takes one name a call and two
// calls a second, of which other people need some too.
const (
	mostTargets = 6
	mostSubnets = 3
	mostOf      = 2 // nodegroups, groups, launch templates
)

// Targets are what an incident is about, the cause first: what a fix would
// change, the other things on the way, the subnets whose table or ACL may have
// been swapped, and what the launches were made from.
func Targets(inc incident.Incident, templates []string) []Target {
	var list []Target
	add := func(t Target, ok bool) {
		if ok && len(list) < mostTargets && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	cause := inc.Cause
	add(targetOf(inc, inc.Key.Resource))
	if strings.HasPrefix(string(inc.Key.Check), "iam/access") && strings.HasPrefix(inc.Key.Resource, "arn:") {
		add(Target{Access, inc.Key.Resource, inc.Key.Cluster}, true)
	}
	for _, id := range first(cause.Resources, mostTargets) {
		add(targetOf(inc, id))
	}
	var subnets []string
	for _, id := range cause.Covers {
		if strings.HasPrefix(id, "subnet-") {
			subnets = append(subnets, id)
		}
	}
	for _, id := range first(subnets, mostSubnets) {
		add(Target{Kind: Subnet, Name: id}, true)
	}
	for _, id := range first(templates, mostOf) {
		add(Target{Kind: LaunchTemplate, Name: id}, strings.HasPrefix(id, "lt-"))
	}
	for _, name := range first(cause.Nodegroups, mostOf) {
		add(Target{Nodegroup, name, inc.Key.Cluster}, name != "")
	}
	var groups []string
	for _, l := range inc.Launches {
		if l.Group != "" && !slices.Contains(groups, l.Group) {
			groups = append(groups, l.Group)
		}
	}
	for _, name := range first(groups, mostOf) {
		add(Target{Kind: Group, Name: name}, true)
	}
	return list
}

// targetOf tells what a resource of a cause is: by its form, else by what the
// incident knows of that name.
func targetOf(inc incident.Incident, id string) (Target, bool) {
	if name, ok := strings.CutPrefix(afterAccount(id), "role/"); ok {
		return Target{Kind: Role, Name: last(name)}, true
	}
	if name, ok := strings.CutPrefix(afterAccount(id), "instance-profile/"); ok {
		return Target{Kind: Profile, Name: last(name)}, true
	}
	prefix, hex, ok := strings.Cut(id, "-")
	if ok && isHex(hex) {
		for _, k := range []Kind{RouteTable, Subnet, SecurityGroup, NetworkACL, NATGateway, Gateway, Endpoint, VPC, TransitGateway, LaunchTemplate} {
			if prefix == string(k) {
				return Target{Kind: k, Name: id}, true
			}
		}
		return Target{Kind: Other, Name: id}, true
	}
	cluster := inc.Key.Cluster
	family := inc.Key.Check.Family()
	switch {
	case id == "" || strings.HasPrefix(id, "arn:"):
		return Target{}, false
	case family == checkid.Addon:
		return Target{Addon, id, cluster}, true
	case slices.Contains(inc.Cause.Nodegroups, id) || family == checkid.Nodegroup:
		return Target{Nodegroup, id, cluster}, true
	case slices.ContainsFunc(inc.Launches, func(l report.Launch) bool { return l.Group == id }) || family == checkid.Launch:
		return Target{Kind: Group, Name: id}, true
	case id == cluster:
		return Target{Cluster, id, cluster}, true
	}
	return Target{}, false
}

// afterAccount is the resource of an IAM ARN: role/path/name.
func afterAccount(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[2] != "iam" {
		return ""
	}
	return parts[5]
}

// isHex tells an id of AWS: eight digits in old accounts, seventeen today.
func isHex(s string) bool {
	return len(s) >= 8 && strings.Trim(s, "0123456789abcdef") == ""
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// Is reports whether a record is about the target: it stands in the request, or
// in the answer of a call that made it.
func (t Target) matches(r Record) bool {
	switch t.Kind {
	case Role:
		return r.Source == iam && has(r.Asked, t.Name, "roleName", Listed)
	case Profile:
		return r.Source == iam && has(r.Asked, t.Name, "instanceProfileName", Listed)
	case Access:
		return r.Source == eks && has(r.Asked, t.Name, "principalArn") && t.ofCluster(r)
	case Nodegroup:
		return r.Source == eks && has(r.Asked, t.Name, "nodegroupName") && t.ofCluster(r)
	case Addon:
		return r.Source == eks && has(r.Asked, t.Name, "addonName") && t.ofCluster(r)
	case Cluster:
		return r.Source == eks && slices.Contains(t.calls(), r.Call) && t.ofCluster(r)
	case Group:
		return r.Source == autoscaling && has(r.Asked, t.Name, "autoScalingGroupName")
	}
	return r.Source == ec2 && t.changes(r.Call) && (has(r.Asked, t.Name) || strings.HasPrefix(r.Call, "Create") && has(r.Answered, t.Name))
}

func (t Target) ofCluster(r Record) bool { return has(r.Asked, t.Cluster, "name", "clusterName") }

// The services whose calls are looked at, as records name them.
const (
	ec2         = "ec2.amazonaws.com"
	iam         = "iam.amazonaws.com"
	eks         = "eks.amazonaws.com"
	autoscaling = "autoscaling.amazonaws.com"
	// Listed is the field of what CloudTrail itself lists beside an event.
	Listed = "resource"
)

const (
	// Kept is how far back CloudTrail can be asked (LookupEvents: 90 days).
	Kept = 90 * 24 * time.Hour
	// Usual is how far back is looked where no good launch is known: who broke a
	// thing longer ago would have been noticed.
	Usual = 14 * 24 * time.Hour
)

// Window is the time between the last good and the first bad launch.
type Window struct {
	// From is zero where no good one is known.
	From, To time.Time
	// LastGood is the launch that joined last.
	LastGood string

	start, oldest time.Time
}

// WindowOf is the time in which what broke an incident's launches was changed.
// Only a launch proves that all was well that needed what is broken: where the
// cause is about subnets, one in them; else one of the same nodegroups; else one
// of the cluster.
func WindowOf(inc incident.Incident, history []snapshot.Past, now time.Time) Window {
	w := Window{To: inc.Began, oldest: now.Add(-Kept)}
	var subnets []string
	for _, id := range inc.Cause.Covers {
		if strings.HasPrefix(id, "subnet-") {
			subnets = append(subnets, id)
		}
	}
	for _, p := range history {
		if p.End != snapshot.Joined || p.Ready.IsZero() || p.Ready.After(w.To) || p.Ready.Before(w.From) {
			continue
		}
		switch {
		case len(subnets) > 0 && !slices.Contains(subnets, p.Subnet):
			continue
		case len(subnets) == 0 && len(inc.Cause.Nodegroups) > 0 && !slices.Contains(inc.Cause.Nodegroups, p.Nodegroup):
			continue
		}
		w.From, w.LastGood = p.Ready, p.ID
	}
	w.start = w.From
	if w.From.IsZero() {
		w.start = w.To.Add(-Usual)
	}
	if w.start.Before(w.oldest) {
		w.start = w.oldest
		if !w.From.IsZero() {
			w.From = w.oldest
		}
	}
	return w
}

// holds reports whether a change can be what broke the launches. Records are of
// whole seconds.
func (w Window) holds(at time.Time) bool {
	return !at.Before(w.start.Truncate(time.Second)) && !at.After(w.To)
}
