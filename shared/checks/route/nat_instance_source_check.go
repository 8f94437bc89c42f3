package route

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func NATInstanceSourceCheck() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteNATInstanceSourceCheck,
		Title:      "The NAT instance does not run, or may not forward",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		// The interface is asked for where a row leads to one: most VPCs have
		// no NAT instance.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.Instances},
		AtLaunch: true,
		Cause:    "The default route leads to an instance's network interface whose source/destination check is on, so that EC2 drops every packet that is not its own; or the instance is stopped, or the interface is attached to none.",
		Fix:      "Switch the source/destination check off, start the instance, or lead the route to a NAT gateway.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html"},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return ways(c, wayCheck{fault: path.NATInstance, id: atEnd, open: byInterface, say: natInstanceFinding})
		},
	}))
}

// byInterface is a way whose first hop is an interface, or is not known.
func byInterface(w path.Way) bool {
	return routes.Rowless(w) || w.Row.Target.Kind == snapshot.ToInterface
}

func natInstanceFinding(c *routes.Scope, f wayFault) finding.Finding {
	subnets := f.subnets()
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.Stranded(subnets),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s forwards nothing", f.id),
		Why: fmt.Sprintf("The default route of %s leads to %s, but %s. Nodes in %s cannot reach %s.",
			phrase.Some(f.tables(), 3), f.id, f.way.Reason, phrase.Some(subnets, 3), phrase.And(path.Names(f.lost()))),
		Evidence: append(f.evidence(), forwarderSeen(c, f.id)...),
		Fix:      fixForwarder(c, f),
	}
}

// forwards are the interface and the instance that a row leads to, as far as
// they were read.
func forwards(c *routes.Scope, id string) (snapshot.Interface, snapshot.Instance) {
	var e snapshot.Interface
	if i := slices.IndexFunc(c.S.Interfaces, func(e snapshot.Interface) bool { return e.ID == id }); i >= 0 {
		e = c.S.Interfaces[i]
	}
	for _, in := range c.S.Instances {
		if in.ID == id || in.ID == e.Instance && e.Instance != "" || slices.Contains(in.Interfaces, id) {
			return e, in
		}
	}
	return e, snapshot.Instance{}
}

func forwarderSeen(c *routes.Scope, id string) []finding.Evidence {
	var list []finding.Evidence
	e, i := forwards(c, id)
	if e.ID != "" {
		check := "off"
		if e.SourceCheck {
			check = "on"
		}
		value := fmt.Sprintf("%s, source/destination check %s", e.Status, check)
		if e.Instance != "" {
			value += ", attached to " + e.Instance
		}
		list = append(list, finding.Evidence{What: e.ID, Value: value})
	}
	if i.ID != "" {
		list = append(list, finding.Evidence{What: i.ID, Value: i.State})
	}
	return list
}

// fixForwarder undoes what keeps the instance from forwarding: what is stopped
// is started first.
func fixForwarder(c *routes.Scope, f wayFault) finding.Fix {
	e, i := forwards(c, f.id)
	instance := e.Instance
	if i.ID != "" {
		instance = i.ID
	}
	stopped := i.State == "stopped" || i.State == "" && !e.SourceCheck && instance != ""
	fix := finding.Fix{Console: link.EC2(c.S, "NetworkInterface:networkInterfaceId="+f.id)}
	if strings.HasPrefix(f.id, "i-") {
		fix.Console = link.EC2(c.S, "InstanceDetails:instanceId="+f.id)
	}
	switch {
	case stopped:
		fix.Text = fmt.Sprintf("Start %s. A NAT gateway in its place cannot be stopped.", instance)
		fix.Command = command.AWS(c.S, "ec2 start-instances", "--instance-ids", instance)
	case e.SourceCheck:
		fix.Text = "Switch the source/destination check off, if the instance is meant to forward."
		fix.Command = command.AWS(c.S, "ec2 modify-network-interface-attribute", "--network-interface-id", e.ID, "--no-source-dest-check")
	case i.SourceCheck:
		fix.Text = "Switch the source/destination check off, if the instance is meant to forward."
		fix.Command = command.AWS(c.S, "ec2 modify-instance-attribute", "--instance-id", i.ID, "--no-source-dest-check")
	default:
		return leadElsewhere(c, f.lots[0], f.way)
	}
	return fix
}
