package slack

import (
	"strings"
	"unicode"
)

// changeVerb is what a write call did to a resource: "created rtb-0cd2" for a
// CreateRouteTable, yet "called CreateRoute on rtb-0cd2" for a CreateRoute,
// which made no table. A call that was refused was only tried.
func changeVerb(call, kind string, refused bool) (verb string, named bool) {
	word, object := split(call)
	switch {
	case call == "":
		return "changed", false
	case refused:
		return "tried " + call + " on", true
	case !sameKind(object, kind):
		return "called " + call + " on", true
	}
	return past(word), false
}

// split parts a call into what it does and to what: Create, RouteTable.
func split(call string) (verb, object string) {
	for at, r := range call {
		if at > 0 && unicode.IsUpper(r) {
			return call[:at], call[at:]
		}
	}
	return call, ""
}

// sameKind tells that the object of a call is the resource itself.
func sameKind(object, kind string) bool {
	kinds := map[string]string{
		"rtb": "RouteTable", "subnet": "Subnet", "nat": "NatGateway", "igw": "InternetGateway", "vpce": "VpcEndpoint", "vpc": "Vpc",
		"sg": "SecurityGroup", "acl": "NetworkAcl", "eni": "NetworkInterface", "i": "Instance", "lt": "LaunchTemplate", "vol": "Volume",
		"eigw": "EgressOnlyInternetGateway", "tgw": "TransitGateway", "pcx": "VpcPeeringConnection", "eipalloc": "Address",
	}
	name := kinds[kind]
	return name != "" && (object == name || object == name+"s")
}

// past is a call's verb as what was done.
func past(verb string) string {
	switch verb = strings.ToLower(verb); verb {
	case "put", "set", "reset":
		return verb
	case "run":
		return "ran"
	case "stop":
		return "stopped"
	case "modify":
		return "modified"
	}
	if strings.HasSuffix(verb, "e") {
		return verb + "d"
	}
	return verb + "ed"
}
