package plan

import (
	"fmt"
	"strings"
)

func (p Plan) openWords(o Open) words {
	var pairs []string
	for _, id := range o.From {
		pairs = append(pairs, "{GroupId="+id+"}")
	}
	command := func(call string) string {
		if len(o.From) == 1 {
			return p.aws("ec2 "+call, "--group-id", o.SecurityGroup, "--protocol", "tcp", "--port", o.Port, "--source-group", o.From[0])
		}
		return p.aws("ec2 "+call, "--group-id", o.SecurityGroup,
			"--ip-permissions", fmt.Sprintf("IpProtocol=tcp,FromPort=%d,ToPort=%d,UserIdGroupPairs=[%s]", o.Port, o.Port, strings.Join(pairs, ",")))
	}
	return words{
		title:    fmt.Sprintf("Admit tcp %d from %s in %s", o.Port, and(o.From), o.SecurityGroup),
		steps:    []string{fmt.Sprintf("Add to %s, which only interfaces of %s have: inbound tcp %d from %s.", o.SecurityGroup, few(o.Endpoints, "endpoint"), o.Port, and(o.From))},
		commands: []string{command("authorize-security-group-ingress")},
		undo:     []string{command("revoke-security-group-ingress")},
		cost:     fmt.Sprintf("Whatever has %s reaches %s, by tcp %d alone.", and(o.From), few(o.Endpoints, "endpoint"), o.Port),
	}
}
