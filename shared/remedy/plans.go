package remedy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/shell"
)

// AddNATRoute is a default route to be added to a route table.
type AddNATRoute struct {
	VPC         string `json:"vpc"`
	Table       string `json:"table"`
	Destination string `json:"destination"` // 0.0.0.0/0
	NAT         string `json:"nat"`
	NATZone     string `json:"natZone,omitempty"` // empty: regional
	// Zones are those of the subnets that use the table.
	Zones   []string `json:"zones,omitempty"`
	Subnets []string `json:"subnets,omitempty"`
	// ManagedBy is what made the table, by its tags: "CloudFormation stack vpc".
	ManagedBy string `json:"managedBy,omitempty"`
	// Unproved are those of the subnets of which it is not proved that the cluster
	// launches nodes there: a person decides, whatever the policy.
	Unproved []string `json:"unproved,omitempty"`
}

// Words are the words for people.
func (r AddNATRoute) Words(at Place) Words {
	command := func(call string, more ...string) string {
		return at.AWS("ec2 "+call, "--route-table-id", r.Table, "--destination-cidr-block", r.Destination, more)
	}
	return Words{
		Title:    fmt.Sprintf("Add %s → %s to %s", r.Destination, r.NAT, r.Table),
		Steps:    []string{fmt.Sprintf("Create the route %s → %s in %s%s.", r.Destination, r.NAT, r.Table, r.routeUsers()) + r.unproved()},
		Commands: []string{command("create-route", "--nat-gateway-id", r.NAT)},
		Undo:     []string{command("delete-route")},
		Cost:     r.routeCost(),
	}
}

// unproved warns of subnets into which the cluster is not known to launch.
func (r AddNATRoute) unproved() string {
	if len(r.Unproved) == 0 {
		return ""
	}
	return fmt.Sprintf(" That the cluster launches nodes in %s is known only from tags on instances.", And(r.Unproved))
}

// routeUsers are the subnets that use the table. One that is not yet anybody's,
// as a record of another version may hold it, has none to name.
func (r AddNATRoute) routeUsers() string {
	in := ""
	if r.VPC != "" {
		in = " in " + r.VPC
	}
	if len(r.Subnets) == 0 {
		return in
	}
	zones := ""
	if len(r.Zones) > 0 {
		zones = " (" + And(r.Zones) + ")"
	}
	return fmt.Sprintf(", which %s%s%s %s", Few(r.Subnets, "subnet"), zones, in, verb(len(r.Subnets), "uses", "use"))
}

// routeCost names the prices of us-east-1: NAT gateway $0.045 for each GB (VPC
// pricing), between zones of a region $0.01 for each GB each way (EC2 pricing,
// data transfer). AWS's own pages were not read for it; guides of 2026 that quote
// them agree (basavytix.com/blog/aws-nat-gateway-pricing, cloudburn.io/blog/
// aws-nat-gateway-pricing). Other regions have others: Singapore $0.059.
func (r AddNATRoute) routeCost() string {
	cost := "About $0.045/GB through the NAT gateway."
	var others []string
	for _, zone := range r.Zones {
		if zone != r.NATZone {
			others = append(others, zone)
		}
	}
	switch {
	case r.NATZone == "":
	case len(others) > 0 && slices.Contains(r.Zones, r.NATZone):
		cost += fmt.Sprintf(" %s is in %s: traffic from %s costs about $0.01/GB more each way, and depends on %s being up.", r.NAT, r.NATZone, And(others), r.NATZone)
	case len(others) > 0:
		cost += fmt.Sprintf(" %s is in another zone (%s, not %s): about $0.01/GB more each way, and no route to the internet while %s is down.", r.NAT, r.NATZone, And(others), r.NATZone)
	default:
		cost += " Same zone, so no cross-zone charge."
	}
	if r.ManagedBy != "" {
		cost += fmt.Sprintf(" %s was created by %s, which may remove the route again: add it there too.", r.Table, r.ManagedBy)
	}
	return cost
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// OpenEndpointSecurityGroup is a port to be opened in an endpoint's security group, to the
// security groups of nodes.
type OpenEndpointSecurityGroup struct {
	VPC           string   `json:"vpc"`
	SecurityGroup string   `json:"securityGroup"`
	Endpoints     []string `json:"endpoints"`
	Port          int      `json:"port"`
	From          []string `json:"from"` // security groups
	// Unproved are instances with one of these that only their tags call the
	// cluster's: a person decides, whatever the policy.
	Unproved []string `json:"unproved,omitempty"`
}

// Words are the words for people.
func (o OpenEndpointSecurityGroup) Words(at Place) Words {
	var pairs []string
	for _, id := range o.From {
		pairs = append(pairs, "{GroupId="+id+"}")
	}
	command := func(call string) string {
		if len(o.From) == 1 {
			return at.AWS("ec2 "+call, "--group-id", o.SecurityGroup, "--protocol", "tcp", "--port", o.Port, "--source-group", o.From[0])
		}
		return at.AWS("ec2 "+call, "--group-id", o.SecurityGroup,
			"--ip-permissions", fmt.Sprintf("IpProtocol=tcp,FromPort=%d,ToPort=%d,UserIdGroupPairs=[%s]", o.Port, o.Port, strings.Join(pairs, ",")))
	}
	return Words{
		Title:    fmt.Sprintf("Allow tcp %d from %s in %s", o.Port, And(o.From), o.SecurityGroup),
		Steps:    []string{fmt.Sprintf("Add to %s, used only by interfaces of %s: inbound tcp %d from %s.", o.SecurityGroup, Few(o.Endpoints, "endpoint"), o.Port, And(o.From)) + o.unproved()},
		Commands: []string{command("authorize-security-group-ingress")},
		Undo:     []string{command("revoke-security-group-ingress")},
		Cost:     fmt.Sprintf("Everything with %s can reach %s, on tcp %d only.", And(o.From), Few(o.Endpoints, "endpoint"), o.Port),
	}
}

// unproved warns of hosts that are not known to be the cluster's.
func (o OpenEndpointSecurityGroup) unproved() string {
	if len(o.Unproved) == 0 {
		return ""
	}
	return fmt.Sprintf(" That the cluster launched %s is known only from tags.", And(o.Unproved))
}

// CoverZones is a desired count to be raised.
type CoverZones struct {
	Nodegroup string `json:"nodegroup,omitempty"` // a managed nodegroup, or
	Group     string `json:"group,omitempty"`     // an Auto Scaling group without one
	From      int    `json:"from"`
	To        int    `json:"to"`
	Max       int    `json:"max"`
	// Zones are those that it is to cover, Without those that have no node now.
	Zones   []string `json:"zones,omitempty"`
	Without []string `json:"without,omitempty"`
	// Autoscaler reports whether the cluster autoscaler sets the count too.
	Autoscaler bool `json:"autoscaler,omitempty"`
}

// Words are the words for people.
func (c CoverZones) Words(at Place) Words {
	name := c.Group
	command := func(n int) string {
		return at.AWS("autoscaling set-desired-capacity", "--auto-scaling-group-name", c.Group, "--desired-capacity", n)
	}
	if c.Nodegroup != "" {
		name = c.Nodegroup
		command = func(n int) string {
			return at.AWS("eks update-nodegroup-config", "--cluster-name", at.Cluster, "--nodegroup-name", c.Nodegroup, "--scaling-config", fmt.Sprintf("desiredSize=%d", n))
		}
	}
	w := Words{
		Title:    fmt.Sprintf("Raise %s from %d to %d nodes", name, c.From, c.To),
		Steps:    []string{fmt.Sprintf("Set the desired count of %s from %d to %d (maximum %d): Auto Scaling launches in the zones that have the fewest, so in %s.", name, c.From, c.To, c.Max, And(c.Without))},
		Change:   fmt.Sprintf("desired %d → %d", c.From, c.To),
		Commands: []string{command(c.To)},
		Undo:     []string{command(c.From)},
		Cost:     fmt.Sprintf("%s extra, until you scale down again.", Count(c.To-c.From, "instance")),
	}
	if c.Autoscaler {
		w.Cost += " The cluster autoscaler can scale down again when a node is idle: use one group per zone, or its flag balance-similar-node-groups."
	}
	return w
}

// ReplaceInstance are instances to be ended through their Auto Scaling groups, which
// launch others in their place.
type ReplaceInstance struct {
	Instances []Replaced `json:"instances"`
}

// Replaced is one of them.
type Replaced struct {
	Instance  string `json:"instance"`
	Group     string `json:"group"`
	Nodegroup string `json:"nodegroup,omitempty"`
	Zone      string `json:"zone,omitempty"`
}

// Words are the words for people.
func (r ReplaceInstance) Words(at Place) Words {
	w := Words{Cost: "Everything on the instance is lost. No pods run on it, because it never became a node."}
	var ids []string
	for _, i := range r.Instances {
		ids = append(ids, i.Instance)
		w.Steps = append(w.Steps, fmt.Sprintf("Terminate %s (%s, %s) through its Auto Scaling group %s, which launches a replacement: desired capacity is unchanged.", i.Instance, i.Nodegroup, i.Zone, i.Group))
		w.Commands = append(w.Commands, at.AWS("autoscaling terminate-instance-in-auto-scaling-group", "--instance-id", i.Instance, "--no-should-decrement-desired-capacity"))
	}
	w.Title = "Replace " + Few(ids, "instance")
	if len(ids) > 2 {
		w.Title = fmt.Sprintf("Replace %s that did not join", Count(len(ids), "instance"))
	}
	w.Undo = []string{"A terminated instance cannot be restored; its group launches a replacement."}
	return w
}

// DeleteLeakedInterfaces are interfaces that dead nodes left behind. eni-cleanup deletes
// them, each by all of its own rules.
type DeleteLeakedInterfaces struct {
	VPC        string   `json:"vpc"`
	Subnet     string   `json:"subnet"`
	Interfaces []string `json:"interfaces"`
	Addresses  int      `json:"addresses"`
	// Held is how many more look left behind and are held back, and why; empty for none.
	Held string `json:"held,omitempty"`
}

// Words are the words for people.
func (c DeleteLeakedInterfaces) Words(at Place) Words {
	w := Words{
		Title: fmt.Sprintf("Delete %s leaked in %s", Count(len(c.Interfaces), "interface"), c.Subnet),
		Steps: []string{fmt.Sprintf("eni-cleanup deletes %s in %s, each only if all of its rules hold: frees %s.", Few(c.Interfaces, "interface"), c.Subnet, Count(c.Addresses, "address"))},
		Undo:  []string{"A deleted network interface cannot be restored; the VPC CNI creates new ones when nodes need them."},
		Cost:  "None.",
	}
	for _, id := range c.Interfaces {
		w.Commands = append(w.Commands, at.AWS("ec2 delete-network-interface", "--network-interface-id", id))
	}
	return w
}

// CreateAccessEntry is an access entry to be made for the role of nodes.
type CreateAccessEntry struct {
	Principal string `json:"principal"` // a role's ARN
	Type      string `json:"type"`      // EC2_LINUX or EC2_WINDOWS
	// LaunchedBy is what of the cluster launched the instances that have the role:
	// "nodegroup workers", "Auto Scaling group a", "NodePool default".
	LaunchedBy []string `json:"launchedBy,omitempty"`
	// Tagged reports whether of some of them tags alone say so, which whoever may start
	// an instance may set: a person decides, whatever the policy.
	Tagged bool `json:"tagged,omitempty"`
}

// Words are the words for people.
func (a CreateAccessEntry) Words(at Place) Words {
	name := a.Principal[strings.LastIndexByte(a.Principal, '/')+1:]
	by := ""
	if len(a.LaunchedBy) > 0 {
		by = " Its instances were launched by " + And(a.LaunchedBy) + "."
	}
	return Words{
		Title:    fmt.Sprintf("Create an access entry %s for %s", a.Type, name),
		Steps:    []string{fmt.Sprintf("Create an access entry of type %s for %s in %s: no groups, no policy.%s", a.Type, a.Principal, at.Cluster, by)},
		Commands: []string{at.AWS("eks create-access-entry", "--cluster-name", at.Cluster, "--principal-arn", a.Principal, "--type", a.Type)},
		Undo:     []string{at.AWS("eks delete-access-entry", "--cluster-name", at.Cluster, "--principal-arn", a.Principal)},
		Cost:     fmt.Sprintf("Everything that is allowed to use the role %s can join %s as a node.", name, at.Cluster),
	}
}

// personDecides where tags alone name the NodePool.
func (a CreateAccessEntry) personDecides() string {
	if !a.Tagged {
		return ""
	}
	return "That Karpenter launched the instances is known only from tags, which anyone who can start an instance can set: check them before you approve."
}

// Place is where a plan is done.
type Place struct{ Region, Cluster string }

// Words are a plan's words for people: the same plan reads the same in Slack, in
// the audit and in the docs.
type Words struct {
	Title    string   // what is done, at most 70 runes
	Steps    []string // each one call, in order
	Commands []string // that do the same by hand
	// Change says in few words what is changed: "desired 2 → 3".
	Change string
	// Undo takes it back: commands, or a sentence where there is nothing to take back.
	Undo []string
	// Cost says what it costs, in money and otherwise.
	Cost string
}

// AWS is a command of the AWS CLI in the place's region: "ec2 create-route" and
// its options, each word quoted.
func (p Place) AWS(operation string, words ...any) string {
	return shell.Command(append([]any{"aws", strings.Fields(operation), "--region", p.Region}, words...)...)
}

// Unproved is why a person decides on a plan that rests on tags: subnets or instances
// of which it is not proved that the cluster launches there, or launched them; empty
// where there are none.
func Unproved(things []string) string {
	if len(things) == 0 {
		return ""
	}
	return "That " + And(things) + " " + verb(len(things), "is", "are") + " the cluster's is known only from tags, which anybody who can start an instance can set: check before you approve."
}

// And joins a list as a sentence does.
func And(list []string) string {
	switch n := len(list); n {
	case 0:
		return ""
	case 1:
		return list[0]
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}

// Few names at most five of a list.
func Few(list []string, what string) string {
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + ", …: " + Count(len(list), what)
	}
	return And(list)
}

// Count is "1 instance" or "3 instances"; an s makes all words here many, but
// for those in -s.
func Count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what[len(what)-1] == 's':
		return strconv.Itoa(n) + " " + what + "es"
	}
	return strconv.Itoa(n) + " " + what + "s"
}
