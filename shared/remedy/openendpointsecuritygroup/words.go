package openendpointsecuritygroup

import (
	"fmt"

	"rollcall/shared/remedy/action"
	"strings"
)

func words(o Plan, at action.Place) action.Words {
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
	return action.Words{
		Title:    fmt.Sprintf("Admit tcp %d from %s in %s", o.Port, action.And(o.From), o.SecurityGroup),
		Steps:    []string{fmt.Sprintf("Add to %s, which only interfaces of %s have: inbound tcp %d from %s.", o.SecurityGroup, action.Few(o.Endpoints, "endpoint"), o.Port, action.And(o.From)) + unproved(o)},
		Commands: []string{command("authorize-security-group-ingress")},
		Undo:     []string{command("revoke-security-group-ingress")},
		Cost:     fmt.Sprintf("Whatever has %s reaches %s, by tcp %d alone.", action.And(o.From), action.Few(o.Endpoints, "endpoint"), o.Port),
	}
}

// unproved warns of hosts that are not known to be the cluster's.
func unproved(o Plan) string {
	if len(o.Unproved) == 0 {
		return ""
	}
	return fmt.Sprintf(" That the cluster launched %s is not proved: only tags say so.", action.And(o.Unproved))
}
