package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func natInstance() Check {
	return usingTemplates(walking(Check{
		ID:         "route/nat-instance-source-check",
		Title:      "The NAT instance does not run, or may not forward",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		// The interface is asked for where a row leads to one: most VPCs have
		// no NAT instance.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.Instances},
		AtLaunch: true,
		Cause:    "The way out leads to an instance's network interface whose source/destination check is on, so that EC2 drops every packet that is not its own; or the instance is stopped, or the interface is attached to none.",
		Fix:      "Switch the source/destination check off, start the instance, or lead the route to a NAT gateway.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html"},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.ways(wayCheck{fault: path.NATInstance, id: atEnd, open: byInterface, say: natInstanceFinding})
		},
	}))
}

// byInterface is a way whose first hop is an interface, or is not known.
func byInterface(w path.Way) bool {
	return rowless(w) || w.Row.Target.Kind == snapshot.ToInterface
}

func natInstanceFinding(c *scene, f wayFault) Finding {
	subnets := f.subnets()
	return Finding{
		Outcome:   Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.stranded(subnets),
		Resources: f.way.Resources(),
		Title:     title("%s forwards nothing", f.id),
		Why: fmt.Sprintf("The way out of %s leads to %s, but %s. Nodes in %s cannot reach %s.",
			some(f.tables(), 3), f.id, f.way.Reason, some(subnets, 3), and(path.Names(f.lost()))),
		Evidence: append(f.evidence(), c.forwarderSeen(f.id)...),
		Fix:      c.fixForwarder(f),
	}
}

// forwards are the interface and the instance that a row leads to, as far as
// they were read.
func (c *scene) forwards(id string) (snapshot.Interface, snapshot.Instance) {
	var e snapshot.Interface
	if i := slices.IndexFunc(c.s.Interfaces, func(e snapshot.Interface) bool { return e.ID == id }); i >= 0 {
		e = c.s.Interfaces[i]
	}
	for _, in := range c.s.Instances {
		if in.ID == id || in.ID == e.Instance && e.Instance != "" || slices.Contains(in.Interfaces, id) {
			return e, in
		}
	}
	return e, snapshot.Instance{}
}

func (c *scene) forwarderSeen(id string) []Evidence {
	var list []Evidence
	e, i := c.forwards(id)
	if e.ID != "" {
		check := "off"
		if e.SourceCheck {
			check = "on"
		}
		value := fmt.Sprintf("%s, source/destination check %s", e.Status, check)
		if e.Instance != "" {
			value += ", attached to " + e.Instance
		}
		list = append(list, Evidence{What: e.ID, Value: value})
	}
	if i.ID != "" {
		list = append(list, Evidence{What: i.ID, Value: i.State})
	}
	return list
}

// fixForwarder undoes what keeps the instance from forwarding: what is stopped
// is started first.
func (c *scene) fixForwarder(f wayFault) Fix {
	e, i := c.forwards(f.id)
	instance := e.Instance
	if i.ID != "" {
		instance = i.ID
	}
	stopped := i.State == "stopped" || i.State == "" && !e.SourceCheck && instance != ""
	fix := Fix{Console: ec2Console(c.s, "NetworkInterface:networkInterfaceId="+f.id)}
	if strings.HasPrefix(f.id, "i-") {
		fix.Console = ec2Console(c.s, "InstanceDetails:instanceId="+f.id)
	}
	switch {
	case stopped:
		fix.Text = fmt.Sprintf("Start %s. A NAT gateway in its place cannot be stopped.", instance)
		fix.Command = aws(c.s, "ec2 start-instances", "--instance-ids", instance)
	case e.SourceCheck:
		fix.Text = "Switch the source/destination check off, if the instance is meant to forward."
		fix.Command = aws(c.s, "ec2 modify-network-interface-attribute", "--network-interface-id", e.ID, "--no-source-dest-check")
	case i.SourceCheck:
		fix.Text = "Switch the source/destination check off, if the instance is meant to forward."
		fix.Command = aws(c.s, "ec2 modify-instance-attribute", "--instance-id", i.ID, "--no-source-dest-check")
	default:
		return c.leadElsewhere(f.lots[0], f.way)
	}
	return fix
}
