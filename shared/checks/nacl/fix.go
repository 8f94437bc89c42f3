package nacl

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/filter"

	"rollcall/shared/snapshot"
)

// fix adds rules before those that deny.
func (f *aclBlock) fix(s *facts.View) finding.Fix {
	fix := finding.Fix{Console: link.VPC(s, "NetworkAclDetails:networkAclId="+f.acl.ID)}
	acl := f.acl
	acl.Entries = slices.Clone(acl.Entries)
	var commands []string
	for _, h := range f.hits {
		before := 32767
		for _, e := range h.verdict.By {
			before = min(before, e.Number)
		}
		number, free := filter.Free(acl, h.egress, before)
		if !free {
			fix.Text = fmt.Sprintf("No rule number is free below rule %d of %s: change that rule, or number the rules anew, so that %s passes.", before, f.acl.ID, phrase.And(f.denied()))
			return fix
		}
		acl.Entries = append(acl.Entries, snapshot.ACLEntry{Number: number, Egress: h.egress})
		commands = append(commands, allowEntry(s, acl.ID, number, h.crossing))
	}
	fix.Text = fmt.Sprintf("Let it through %s: %s.", f.acl.ID, phrase.And(f.denied()))
	fix.Command = command.Several(commands)
	return fix
}

func allowEntry(s *facts.View, acl string, number int, c crossing) string {
	direction, block := "--ingress", "--cidr-block"
	if c.egress {
		direction = "--egress"
	}
	if c.cidr.Addr().Is6() {
		block = "--ipv6-cidr-block"
	}
	return command.AWS(s, "ec2 create-network-acl-entry", "--network-acl-id", acl, direction, "--rule-number", number,
		"--protocol", "tcp", "--port-range", fmt.Sprintf("From=%d,To=%d", c.ports.From, c.ports.To), block, c.cidr, "--rule-action", "allow")
}
