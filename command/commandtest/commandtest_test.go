package commandtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/slack"
	"rollcall/shared/snapshot"
	"rollcall/stage/platform/loopback"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// change is a call of a command to paste that changes something: its flags, and what the
// same command did before.
type change struct {
	words  []string
	flags  map[string][]string
	before []string // verbs
}

func (c change) flag(flag string) string {
	if list := c.flags["--"+flag]; len(list) > 0 {
		return list[0]
	}
	return ""
}

func (c change) has(flag string) bool { _, is := c.flags["--"+flag]; return is }

func changeOf(words, before []string) change {
	c := change{words: words, flags: map[string][]string{}, before: before}
	flag := ""
	for _, w := range words {
		if strings.HasPrefix(w, "--") {
			flag = w
			c.flags[flag] = []string{}
		} else if flag != "" {
			c.flags[flag] = append(c.flags[flag], w)
		}
	}
	return c
}

// already reports, by the verb of a change, whether a snapshot has it done. Each verb of
// the corpus stands here: a new one needs its row.
func already() map[string]func(*snapshot.Snapshot, change) bool {
	route := func(s *snapshot.Snapshot, c change) *snapshot.Route {
		want := netip.MustParsePrefix(c.flag("destination-cidr-block") + c.flag("destination-ipv6-cidr-block"))
		for _, t := range s.RouteTables {
			for i, r := range t.Routes {
				// A static route may stand beside a propagated one, and wins.
				static := r.Origin != "EnableVgwRoutePropagation" && r.Origin != "Advertisement"
				if t.ID == c.flag("route-table-id") && r.Destination == want && static {
					return &t.Routes[i]
				}
			}
		}
		return nil
	}
	entry := func(s *snapshot.Snapshot, arn string) (e snapshot.AccessEntry, is bool) {
		list := slices.Clone(s.AccessEntries)
		for _, r := range s.ClassRoles {
			list = append(list, r.Entries...)
		}
		i := slices.IndexFunc(list, func(e snapshot.AccessEntry) bool { return e.Principal == arn })
		if i < 0 {
			return e, false
		}
		return list[i], true
	}
	instance := func(s *snapshot.Snapshot, id string, is func(snapshot.Instance) bool) bool {
		return slices.ContainsFunc(s.Instances, func(i snapshot.Instance) bool { return i.ID == id && is(i) })
	}
	rule := func(of func(snapshot.SecurityGroup) []snapshot.Rule) func(*snapshot.Snapshot, change) bool {
		return func(s *snapshot.Snapshot, c change) bool {
			peer, all := c.flag("source-group")+c.flag("cidr"), strings.Join(c.flags["--ip-permissions"], " ")
			port, _ := strconv.Atoi(c.flag("port"))
			return slices.ContainsFunc(s.SecurityGroups, func(g snapshot.SecurityGroup) bool {
				return g.ID == c.flag("group-id") && slices.ContainsFunc(of(g), func(r snapshot.Rule) bool {
					if all != "" {
						return r.Protocol == "-1" && slices.ContainsFunc(r.Groups, func(id string) bool {
							return strings.Contains(all, "IpProtocol=-1") && strings.Contains(all, "GroupId="+id)
						})
					}
					fits := r.Protocol == "-1" || r.Protocol == c.flag("protocol") && (r.From == -1 || r.From <= port && port <= r.To)
					return fits && (slices.Contains(r.Groups, peer) || slices.ContainsFunc(r.CIDRs, func(p netip.Prefix) bool { return p.String() == peer }))
				})
			})
		}
	}
	tagged := func(tags map[string]string, key, value string) bool { v, is := tags[key]; return is && v == value }
	member := func(list []string, name string) string {
		for _, w := range strings.Split(strings.Join(list, ","), ",") {
			if value, is := strings.CutPrefix(w, name+"="); is {
				return value
			}
		}
		return ""
	}
	never := func(*snapshot.Snapshot, change) bool { return false }
	return map[string]func(*snapshot.Snapshot, change) bool{
		"ec2 create-route": func(s *snapshot.Snapshot, c change) bool { return route(s, c) != nil },
		"ec2 replace-route": func(s *snapshot.Snapshot, c change) bool {
			r := route(s, c)
			target := ""
			for _, flag := range []string{"nat-gateway-id", "gateway-id", "egress-only-internet-gateway-id", "network-interface-id", "transit-gateway-id", "vpc-peering-connection-id"} {
				target += c.flag(flag)
			}
			return r == nil || r.State == "active" && r.Target.ID == target
		},
		"ec2 authorize-security-group-ingress": rule(func(g snapshot.SecurityGroup) []snapshot.Rule { return g.Ingress }),
		"ec2 authorize-security-group-egress":  rule(func(g snapshot.SecurityGroup) []snapshot.Rule { return g.Egress }),
		"ec2 create-network-acl-entry": func(s *snapshot.Snapshot, c change) bool {
			number, _ := strconv.Atoi(c.flag("rule-number"))
			return slices.ContainsFunc(s.NetworkACLs, func(a snapshot.NetworkACL) bool {
				return a.ID == c.flag("network-acl-id") && slices.ContainsFunc(a.Entries, func(e snapshot.ACLEntry) bool { return e.Number == number && e.Egress == c.has("egress") })
			})
		},
		"ec2 associate-route-table": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.RouteTables, func(t snapshot.RouteTable) bool {
				return t.ID == c.flag("route-table-id") && slices.Contains(t.Subnets, c.flag("subnet-id"))
			})
		},
		"ec2 associate-subnet-cidr-block": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Subnets, func(n snapshot.Subnet) bool {
				return n.ID == c.flag("subnet-id") && slices.ContainsFunc(n.IPv6, func(p netip.Prefix) bool { return p.String() == c.flag("ipv6-cidr-block") })
			})
		},
		"ec2 attach-internet-gateway": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.InternetGateways, func(g snapshot.InternetGateway) bool {
				return g.ID == c.flag("internet-gateway-id") && slices.Contains(g.Attached, c.flag("vpc-id"))
			})
		},
		"ec2 create-vpc-endpoint": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Endpoints, func(e snapshot.Endpoint) bool {
				return e.VPC == c.flag("vpc-id") && e.Service == c.flag("service-name") && e.Kind == c.flag("vpc-endpoint-type") && e.State == "available"
			})
		},
		"ec2 modify-vpc-endpoint": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Endpoints, func(e snapshot.Endpoint) bool {
				return e.ID == c.flag("vpc-endpoint-id") && (!c.has("private-dns-enabled") || e.PrivateDNS) &&
					!slices.ContainsFunc(c.flags["--add-subnet-ids"], func(id string) bool { return !slices.Contains(e.Subnets, id) }) &&
					!slices.ContainsFunc(c.flags["--add-route-table-ids"], func(id string) bool { return !slices.Contains(e.RouteTables, id) })
			})
		},
		"ec2 modify-vpc-attribute": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.VPCAttributes, func(a snapshot.VPCAttributes) bool {
				return a.VPC == c.flag("vpc-id") && (c.has("enable-dns-support") && a.DNSSupport || c.has("enable-dns-hostnames") && a.DNSHostnames)
			})
		},
		"ec2 modify-subnet-attribute": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Subnets, func(n snapshot.Subnet) bool {
				return n.ID == c.flag("subnet-id") && (c.has("map-public-ip-on-launch") && n.AssignPublicIP || c.has("assign-ipv6-address-on-creation") && n.AssignIPv6)
			})
		},
		"ec2 modify-instance-metadata-options": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.flag("instance-id"), func(i snapshot.Instance) bool {
				return (!c.has("http-endpoint") || i.Metadata.Endpoint == c.flag("http-endpoint")) &&
					(!c.has("http-put-response-hop-limit") || strconv.Itoa(i.Metadata.HopLimit) == c.flag("http-put-response-hop-limit"))
			})
		},
		"ec2 modify-network-interface-attribute": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Interfaces, func(i snapshot.Interface) bool {
				if i.ID != c.flag("network-interface-id") {
					return false
				}
				if c.has("no-source-dest-check") {
					return !i.SourceCheck
				}
				return slices.Equal(slices.Sorted(slices.Values(i.Groups)), slices.Sorted(slices.Values(c.flags["--groups"])))
			})
		},
		"ec2 associate-dhcp-options": never, // of the set that the command has just made
		"ec2 create-dhcp-options": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.VPCs, func(v snapshot.VPC) bool {
				return v.ID == s.Cluster.VPC && slices.ContainsFunc(s.DHCPOptions, func(d snapshot.DHCPOptions) bool {
					return d.ID == v.DHCP && slices.Equal(d.DomainNameServers, []string{"AmazonProvidedDNS"}) && slices.Contains(d.DomainNames, member(c.flags["--dhcp-configurations"], "Key=domain-name,Values"))
				})
			})
		},
		"ec2 create-vpc-block-public-access-exclusion": func(s *snapshot.Snapshot, c change) bool {
			return s.PublicAccess != nil && slices.ContainsFunc(s.PublicAccess.Exclusions, func(e snapshot.Exclusion) bool {
				return e.Resource == c.flag("subnet-id")+c.flag("vpc-id") && e.Active && (!e.Egress || c.flag("internet-gateway-exclusion-mode") == "allow-egress")
			})
		},
		"ec2 create-tags": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.flag("resources"), func(i snapshot.Instance) bool {
				return tagged(i.Tags, member(c.flags["--tags"], "Key"), member(c.flags["--tags"], "Value"))
			})
		},
		"ec2 delete-network-interface": func(s *snapshot.Snapshot, c change) bool {
			return !slices.ContainsFunc(s.Idle, func(i snapshot.Interface) bool {
				return i.ID == c.flag("network-interface-id") && i.Status == "available"
			})
		},
		"ec2 start-instances": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.flag("instance-ids"), func(i snapshot.Instance) bool { return i.State == "running" })
		},
		"ec2 associate-iam-instance-profile": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.flag("instance-id"), func(i snapshot.Instance) bool { return i.Profile != "" })
		},
		"autoscaling create-or-update-tags": func(s *snapshot.Snapshot, c change) bool {
			tags := c.flags["--tags"]
			return slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool {
				return g.Name == member(tags, "ResourceId") && tagged(g.Tags, member(tags, "Key"), member(tags, "Value"))
			})
		},
		"autoscaling terminate-instance-in-auto-scaling-group": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.flag("instance-id"), func(i snapshot.Instance) bool { return i.State == "terminated" || i.State == "shutting-down" })
		},
		"eks create-access-entry": func(s *snapshot.Snapshot, c change) bool {
			_, is := entry(s, c.flag("principal-arn"))
			return is && !slices.Contains(c.before, "eks delete-access-entry")
		},
		"eks delete-access-entry": func(s *snapshot.Snapshot, c change) bool {
			_, is := entry(s, c.flag("principal-arn"))
			return !is
		},
		"eks associate-access-policy": func(s *snapshot.Snapshot, c change) bool {
			e, is := entry(s, c.flag("principal-arn"))
			return is && !slices.Contains(c.before, "eks delete-access-entry") &&
				slices.ContainsFunc(e.Policies, func(p snapshot.AccessPolicy) bool { return p.ARN == c.flag("policy-arn") && len(p.Namespaces) == 0 })
		},
		"eks create-addon": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == c.flag("addon-name") })
		},
		"eks update-cluster-config": func(s *snapshot.Snapshot, c change) bool {
			return c.flag("resources-vpc-config") == "endpointPrivateAccess=true" && s.Cluster.EndpointPrivate
		},
		"eks update-nodegroup-config": func(s *snapshot.Snapshot, c change) bool {
			label := member(c.flags["--labels"], "removeLabels")
			return label != "" && slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool {
				_, is := n.Labels[label]
				return n.Name == c.flag("nodegroup-name") && !is
			})
		},
		"iam attach-role-policy": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Roles, func(r snapshot.Role) bool {
				return r.Name == c.flag("role-name") && slices.ContainsFunc(r.Policies, func(p snapshot.Policy) bool { return p.ARN == c.flag("policy-arn") })
			})
		},
		"iam update-assume-role-policy": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Roles, func(r snapshot.Role) bool {
				return r.Name == c.flag("role-name") && r.Trust == c.flag("policy-document")
			})
		},
		"iam create-instance-profile": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Profiles, func(p snapshot.Profile) bool { return p.Name == c.flag("instance-profile-name") })
		},
		"iam add-role-to-instance-profile": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Profiles, func(p snapshot.Profile) bool {
				return p.Name == c.flag("instance-profile-name") && len(p.Roles) > 0
			})
		},
		"kubectl rollout": never, // a restart changes nothing that stays
		"kubectl edit":    never, // a person decides what is written
		"kubectl set": func(s *snapshot.Snapshot, c change) bool {
			so := true
			for _, w := range c.words {
				if key, value, is := strings.Cut(w, "="); is {
					so = so && s.CNI != nil && s.CNI.Env[key] == value
				}
			}
			return so
		},
	}
}

// reads are the verbs that change nothing.
func reads(verb string) bool {
	_, what, _ := strings.Cut(verb, " ")
	return strings.HasPrefix(what, "describe") || strings.HasPrefix(what, "get") || strings.HasPrefix(what, "list") || strings.HasPrefix(what, "-") || what == "logs"
}

// advises holds that no command of a world's finding does what the world has done
// already: a route that is there, a policy that is attached.
func (seen *tally) advises(t *testing.T, world string, s *snapshot.Snapshot) {
	t.Helper()
	rows := already()
	for key, fix := range found(s) {
		calls, err := parsed(fix.Command)
		if err != nil {
			t.Errorf("%s, %s: %v", world, key[0], err)
		}
		var before []string
		for _, words := range calls {
			if len(words) < 3 || !slices.Contains(programs, words[0]) {
				continue
			}
			verb := words[0] + " " + words[1]
			if words[0] == "aws" {
				verb = words[1] + " " + words[2]
			}
			switch done, is := rows[verb]; {
			case is:
				seen.verbs[verb]++
				if done(s, changeOf(words[2:], before)) {
					t.Errorf("%s, %s advises what is so: %s", world, key[0], fix.Command)
				}
			case !reads(verb):
				t.Errorf("%s, %s: %q has no row in already: %s", world, key[0], verb, fix.Command)
			}
			before = append(before, verb)
		}
	}
}

// found are the commands of all that the checks find in a snapshot, by check and
// resource.
func found(s *snapshot.Snapshot) map[[2]string]finding.Fix {
	all := map[[2]string]finding.Fix{}
	for _, r := range check.Eval(checks.All(), s) {
		if r.Outcome == finding.Fail && r.Fix.Command != "" {
			all[[2]string{string(r.Check), r.Resource}] = r.Fix
		}
	}
	return all
}

// tally is what a test has looked at: a test that looks at nothing holds nothing.
type tally struct {
	checks          map[string]bool
	tried           map[string]int // commands of each check
	worlds          int
	commands        int
	poisoned, whole int
	verbs           map[string]int // calls that change something, by verb
	// hostile are the poisoned commands, for the shells.
	hostile map[string]bool
}

// TestCommandsOfFindings takes every world of the corpus, and poisons what
// commands name, one text after the other, wherever it stands in the snapshot; and
// then every text at once. No command may come to hold anything but words: a text
// that was a word, or a part of one, is the same word with the poison in it.
//
// And no command does what the world has done already (see already).
//
// Text by text is for make test-full in every world; in make test it is for the
// first two commands of each check, so that no check is left out. All texts at once
// is for every world.
func TestCommandsOfFindings(t *testing.T) {
	spared := spoken(t)
	seen := tally{checks: map[string]bool{}, tried: map[string]int{}, verbs: map[string]int{}, hostile: map[string]bool{}}
	worlds := corpus(t)
	for n, name := range slices.Sorted(maps.Keys(worlds)) {
		if n%testfull.Count(1, 2) != 0 { // a check has several worlds
			continue
		}
		t.Run(name, func(t *testing.T) {
			seen.worlds++
			for _, s := range snapshots(t, worlds[name]) {
				seen.world(t, name, s, spared)
				seen.advises(t, name, s)
			}
		})
	}
	t.Logf("%d worlds, commands of %d checks, %d commands; poisoned text by text %d, all at once %d", len(worlds), len(seen.checks), seen.commands, seen.poisoned, seen.whole)
	whole := seen.worlds >= len(worlds)/testfull.Count(1, 2)
	if whole && (len(seen.checks) < testfull.Count(55, 50) || seen.poisoned < testfull.Count(300, 90) || seen.whole < 100) {
		t.Error("that is fewer than there are: the test holds little")
	}
	for verb := range already() {
		if testfull.Asked() && seen.verbs[verb] == 0 {
			t.Errorf("no world's command is %q: its row in already holds nothing", verb)
		}
	}
	t.Logf("%d poisoned commands are given to the shells", len(seen.hostile))
	tried(t, slices.Sorted(maps.Keys(seen.hostile)))
}

func (seen *tally) world(t *testing.T, name string, s *snapshot.Snapshot, spared map[string]bool) {
	t.Helper()
	sound := found(s)
	words := map[[2]string][][]string{}
	named := map[string]bool{}
	known := texts(s)
	for key, fix := range sound {
		calls, err := parsed(fix.Command)
		if err != nil {
			t.Errorf("%s, %s: %v: %s", name, key[0], err, fix.Command)
			continue
		}
		again := seen.tried[key[0]] >= 2
		seen.checks[key[0]] = true
		seen.tried[key[0]]++
		seen.commands++
		words[key] = calls
		for _, w := range slices.Concat(calls...) {
			seen.placeholder(t, key[0], w, fix)
			for text := range known {
				if (!again || testfull.Asked()) && len(text) > 2 && !spared[text] && strings.Contains(w, text) {
					named[text] = true
				}
			}
		}
	}
	for text := range named {
		change := at(text)
		for key, fix := range found(shadowOf(s, change)) {
			if !strings.Contains(fix.Command, "pwned") {
				continue
			}
			calls, err := parsed(fix.Command)
			if err != nil {
				t.Errorf("%s, %s, %q poisoned: %v: %s", name, key[0], text, err, fix.Command)
				continue
			}
			seen.poisoned++
			seen.hostile[fix.Command] = true
			if !seen.intact(t, name, key[0], calls, fix.Command) {
				continue
			}
			before, there := words[[2]string{key[0], strings.TrimSuffix(key[1], poison)}]
			if diff := cmp.Diff(before, clean(calls)); there && diff != "" {
				t.Errorf("%s, %s, %q poisoned (-words +words without the poison):\n%s", name, key[0], text, diff)
			}
		}
	}
	for key, fix := range found(shadowOf(s, everything(spared))) {
		calls, err := parsed(fix.Command)
		if err != nil {
			t.Errorf("%s, %s, all poisoned: %v: %s", name, key[0], err, fix.Command)
			continue
		}
		if strings.Contains(fix.Command, "pwned") {
			seen.whole++
			seen.hostile[fix.Command] = true
			seen.intact(t, name, key[0], calls, fix.Command)
		}
	}
}

// held is the poison as a word holds it: what is not a byte of a text stays.
func held(w string) string { return strings.ReplaceAll(w, poison, "") }

// intact holds that each poison in a command is whole, within its word.
func (seen *tally) intact(t *testing.T, name, check string, calls [][]string, command string) bool {
	t.Helper()
	for _, w := range slices.Concat(calls...) {
		if strings.Contains(held(w), "pwned") {
			t.Errorf("%s, %s: the poison is not whole in %q: %s", name, check, w, command)
			return false
		}
	}
	return true
}

func clean(calls [][]string) [][]string {
	var out [][]string
	for _, words := range calls {
		var list []string
		for _, w := range words {
			list = append(list, held(w))
		}
		out = append(out, list)
	}
	return out
}

// placeholder holds that what a person must fill in is named in the text.
func (seen *tally) placeholder(t *testing.T, check, word string, fix finding.Fix) {
	t.Helper()
	if _, rest, ok := strings.Cut(word, "<"); ok {
		what, _, closed := strings.Cut(rest, ">")
		if !closed || !strings.Contains(fix.Text, shell.Placeholder(what)) {
			t.Errorf("%s: %q is to be filled in, and the text does not say so: %s", check, word, fix.Text)
		}
	}
}

// programs are what the commands run.
var programs = []string{"aws", "kubectl", "eksctl", "base64"}

// parsed are the words of each simple command of a line, in order, as bash takes
// them apart. It is an error where a shell would do anything but run one of the
// programs with these words: a redirection, another command, a variable, a glob.
func parsed(line string) ([][]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("no shell takes it: %w", err)
	}
	var calls [][]string
	var wrong error
	bad := func(format string, values ...any) {
		if wrong == nil {
			wrong = fmt.Errorf(format, values...)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Background || n.Negated || n.Coprocess || len(n.Redirs) > 0 {
				bad("a statement with a redirection or in the background")
			}
		case *syntax.CallExpr:
			words, err := expand.Fields(&expand.Config{
				Env:      expand.ListEnviron("id=$id", "HOME=/home"),
				CmdSubst: func(w io.Writer, _ *syntax.CmdSubst) error { _, err := io.WriteString(w, "$()"); return err },
			}, n.Args...)
			switch {
			case err != nil:
				bad("%v", err)
			case len(n.Assigns) > 0 || len(words) == 0 || !slices.Contains(programs, words[0]):
				bad("it runs %q", words)
			default:
				calls = append(calls, words)
			}
		case *syntax.WordIter:
			words, err := expand.Fields(nil, n.Items...)
			if err != nil {
				bad("%v", err)
			}
			calls = append(calls, words)
		case *syntax.Lit:
			if strings.ContainsAny(n.Value, "*?[]{}~!^#\\<>|&;()\n") {
				bad("unquoted: %q", n.Value)
			}
		case *syntax.DblQuoted:
			// The two words that the shell is to fill in: "$id" and "$(…)".
			if len(n.Parts) != 1 {
				bad("a word in double quotes: %d parts", len(n.Parts))
			}
		case *syntax.ParamExp:
			if n.Param == nil || n.Param.Value != "id" {
				bad("a variable")
			}
		case nil, *syntax.File, *syntax.BinaryCmd, *syntax.ForClause, *syntax.CmdSubst, *syntax.SglQuoted, *syntax.Word:
		default:
			bad("a %T", n)
		}
		return true
	})
	return calls, wrong
}

// shells are those that people paste into: bash on Linux, zsh on macOS.
func shells(t *testing.T) (list [][]string) {
	t.Helper()
	for _, shell := range [][]string{{"bash", "--norc", "--noprofile"}, {"zsh", "-f"}} { // no settings
		if _, err := exec.LookPath(shell[0]); err != nil {
			t.Logf("%s IS NOT INSTALLED: the commands were not tried in it (.ci/run installs it)", shell[0])
			continue
		}
		list = append(list, shell)
	}
	return list
}

// ran are the words that the programs of each line got from a real shell, which runs
// nothing else.
func ran(t *testing.T, shell []string, lines []string) [][][]string {
	t.Helper()
	dir := t.TempDir()
	script := "exec 3>&1 1>/dev/null\n"
	for _, p := range programs {
		// The second of a pipe waits for the first, and says after it what it got.
		script += p + `() { [ ` + p + ` = base64 ] && cat >/dev/null; printf '%s\0' ` + p + ` "$@" $'\1' >&3; }` + "\n"
	}
	for _, line := range lines {
		script += line + "\nprintf '\\2\\0' >&3\n"
	}
	path := filepath.Join(dir, "script")
	testfile.Write(t, path, []byte(script))
	run := exec.Command(shell[0], append(shell[1:], path)...)
	run.Dir = dir
	out, err := run.Output()
	if err != nil {
		t.Errorf("%s: %v", shell[0], err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%s made files of a command: %v, %v", shell[0], left, err)
	}
	var calls [][]string
	var got [][][]string
	var words []string
	for w := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		switch w {
		case "\x01":
			calls, words = append(calls, words), nil
		case "\x02":
			got, calls = append(got, calls), nil
		default:
			words = append(words, w)
		}
	}
	if len(got) != len(lines) {
		t.Fatalf("%s ran %d of %d commands", shell[0], len(got), len(lines))
	}
	return got
}

// tried runs lines in each shell. What a shell fills in the parser does not: of such
// a line all shells must make the same.
func tried(t *testing.T, lines []string) {
	t.Helper()
	var first [][][]string
	for _, shell := range shells(t) {
		got := ran(t, shell, lines)
		for i, line := range lines {
			want, err := parsed(line)
			if err != nil {
				t.Errorf("%v: %s", err, line)
				continue
			}
			if strings.Contains(line, "for id in ") || strings.Contains(line, `"$(`) {
				if want = got[i]; first != nil {
					want = first[i]
				}
				if len(want) == 0 {
					t.Errorf("%s runs nothing: %s", shell[0], line)
				}
			}
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Errorf("%s (-words +got):\n%s\n%s", shell[0], diff, line)
			}
		}
		if first == nil {
			first = got
		}
	}
}

// plans are one of each remedy, and of each form that its commands have.
func plans() map[string]remedy.Plan {
	return map[string]remedy.Plan{
		"add-nat-route":              {Route: &remedy.AddNATRoute{VPC: "vpc-0a", Table: "rtb-0a", Destination: "0.0.0.0/0", NAT: "nat-0a", NATZone: "a", Zones: []string{"a"}, Subnets: []string{"subnet-0a"}, ManagedBy: "CloudFormation stack vpc"}},
		"replace":                    {Replace: &remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: "i-0a", Group: "g", Nodegroup: "n", Zone: "a"}, {Instance: "i-0b", Group: "g"}}}},
		"open to one":                {Open: &remedy.OpenEndpointSecurityGroup{VPC: "vpc-0a", SecurityGroup: "sg-0a", Endpoints: []string{"vpce-0a"}, Port: 443, From: []string{"sg-0b"}}},
		"open to two":                {Open: &remedy.OpenEndpointSecurityGroup{VPC: "vpc-0a", SecurityGroup: "sg-0a", Endpoints: []string{"vpce-0a"}, Port: 443, From: []string{"sg-0b", "sg-0c"}}},
		"cover, a group":             {Cover: &remedy.CoverZones{Group: "g", From: 2, To: 3, Max: 3, Zones: []string{"a", "b"}, Without: []string{"b"}}},
		"cover, a managed nodegroup": {Cover: &remedy.CoverZones{Nodegroup: "n", From: 2, To: 3, Max: 3, Autoscaler: true}},
		"cleanup":                    {Cleanup: &remedy.DeleteLeakedInterfaces{VPC: "vpc-0a", Subnet: "subnet-0a", Interfaces: []string{"eni-0a", "eni-0b"}, Addresses: 3}},
		"access":                     {Access: &remedy.CreateAccessEntry{Principal: "arn:aws:iam::111122223333:role/nodes", Type: "EC2_LINUX", LaunchedBy: []string{"nodegroup n"}}},
	}
}

// command tells a command of a plan's undo from a sentence.
func command(line string) bool { return strings.HasPrefix(line, "aws ") }

func everyText(s string) string {
	if s == "" {
		return s
	}
	return s + poison
}

// TestCommandsOfPlans poisons every text of every plan: no command and no undo
// comes to hold anything but words.
func TestCommandsOfPlans(t *testing.T) {
	var hostile []string
	for name, p := range plans() {
		p.Remedy, p.Partition, p.Account, p.Region, p.Cluster, p.Check, p.Resource = optin.Remedy(name), "aws", account, region, "prod", "route/no-egress", "rtb-0a"
		bad := shadowOf(p, everyText)
		n := 0
		for i, line := range slices.Concat(bad.Commands(), bad.Undo()) {
			sound := slices.Concat(p.Commands(), p.Undo())[i]
			if !command(sound) {
				continue
			}
			n++
			want, err := parsed(sound)
			if err != nil {
				t.Errorf("%s: %v: %s", name, err, sound)
			}
			got, err := parsed(line)
			if err != nil {
				t.Errorf("%s: %v: %s", name, err, line)
				continue
			}
			if len(got) != len(want) || !slices.Equal(clean(got)[0], want[0]) || !strings.Contains(line, "pwned") {
				t.Errorf("%s: %q, want the words %q with the poison in them", name, got, want)
			}
			hostile = append(hostile, line)
		}
		if n == 0 {
			t.Errorf("%s: no command was looked at", name)
		}
	}
	tried(t, hostile)
}

// pasted are the texts in monospace of a message that begin like commands, line
// by line: what Slack's copy button gives.
func pasted(t *testing.T, message any) (lines []string) {
	t.Helper()
	text := testfile.JSON(t, message)
	var tree any
	testfile.Parse(t, text, &tree)
	var walk func(v any, pre bool)
	walk = func(v any, pre bool) {
		switch v := v.(type) {
		case map[string]any:
			pre = pre || v["type"] == "rich_text_preformatted"
			if s, ok := v["text"].(string); ok && pre {
				for line := range strings.SplitSeq(s, "\n") {
					if slices.ContainsFunc([]string{"aws ", "kubectl ", "eksctl ", "for id "}, func(p string) bool { return strings.HasPrefix(line, p) }) {
						lines = append(lines, line)
					}
				}
			}
			for _, x := range v {
				walk(x, pre)
			}
		case []any:
			for _, x := range v {
				walk(x, pre)
			}
		}
	}
	walk(tree, false)
	return lines
}

// TestCommandsOfMessages poisons every text of incidents, but for what a message
// is chosen by: what Slack shows to be pasted is still words.
func TestCommandsOfMessages(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	spared := map[string]bool{}
	for _, s := range []string{
		string(incident.Open), string(incident.Cleared), string(incident.Closed), string(incident.Offered), string(incident.Acted), string(remedy.Done), string(optin.Approve),
		string(outcome.Missed), string(outcome.Waiting), string(finding.Certain), "route/no-egress",
	} {
		spared[s] = true
	}
	for _, r := range optin.Remedies() {
		spared[string(r)] = true
	}
	hostile := func(s string) string {
		if s == "" || spared[s] {
			return s
		}
		return s + poison
	}
	remedies := []optin.Remedy{optin.AddNATRoute, optin.ReplaceInstance, optin.OpenEndpointSecurityGroup, optin.CoverZones, optin.DeleteLeakedInterfaces, optin.CreateAccessEntry}
	n := 0
	shown := map[string]bool{}
	for _, p := range plans() {
		for _, state := range []incident.State{incident.Open, incident.Cleared, incident.Closed} {
			for _, of := range []incident.OfferState{incident.Offered, incident.Acted} {
				p.Region, p.Cluster, p.Remedy = region, "prod", remedies[n%len(remedies)]
				inc := incident.Incident{
					Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0a"}, Format: report.Format, Account: account, Region: region, Partition: "aws",
					State: state, Number: 1, Began: now.Add(-time.Hour), Opened: now.Add(-time.Hour), Cleared: now.Add(-time.Minute), Changed: now, Seen: now, Affected: 1,
					Cause:    diagnosis.Cause{Check: "route/no-egress", Confidence: finding.Certain, Resource: "rtb-0a", Covers: []string{"subnet-0a"}, Title: "subnet-0a has no route to the internet"},
					Launches: []report.Launch{{Instance: "i-0a", Group: "g", Nodegroup: "n", Started: now.Add(-time.Hour), Status: outcome.Missed}},
					Offers:   []incident.Offer{{Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: of, Made: now, Expires: now.Add(time.Hour), Run: &remedy.Run{Plan: p, Result: remedy.Done, Ended: now}}},
				}
				bad := shadowOf(inc, hostile)
				// A check makes its command of poisoned texts by the builder.
				bad.Cause.Fix = finding.Fix{Text: hostile("Look."), Command: shell.All(shell.Command("kubectl", "describe", "csr", "--", hostile("csr-x")), shell.Each([]string{hostile("eni-0a")}, "aws", "ec2", "delete-network-interface"))}
				for _, o := range []slack.Options{{}, {Actions: true, Now: now}} {
					lines := pasted(t, slack.Render(bad, o).Blocks)
					lines = append(lines, pasted(t, slack.RenderNote(bad, incident.Note{ID: "n", At: now, Reason: incident.IsProposed, Offer: &bad.Offers[0]}).Blocks)...)
					for _, line := range lines {
						n++
						if calls, err := parsed(line); err != nil {
							t.Errorf("%s, %s: %v: %s", state, of, err, line)
						} else {
							(&tally{}).intact(t, string(state), string(of), calls, line)
							shown[line] = true
						}
					}
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("%d commands were looked at: the test holds little", n)
	}
	t.Logf("%d commands in messages", n)
	tried(t, slices.Sorted(maps.Keys(shown)))
}

// poison is what a name may hold that a shell or a terminal would act upon. It
// is put behind a text, so that what the text begins with stays.
const poison = " '\"$(touch pwned);`id`|&<in>out*?[a]{b,c}~!!#\\%=\n\r\x1b[201~\u202e\u00e9\xff$HOME -z"

// shadows copies a value, with each text changed.
func shadow(v reflect.Value, change func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(change(v.String()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		if v.Kind() == reflect.Interface {
			out.Set(shadow(v.Elem(), change))
			break
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(shadow(v.Elem(), change))
	case reflect.Struct:
		out.Set(v) // what is not exported: times, addresses
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(shadow(v.Field(i), change))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(shadow(v.Index(i), change))
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(shadow(v.Index(i), change))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeMap(v.Type()))
		for _, key := range v.MapKeys() {
			out.SetMapIndex(shadow(key, change), shadow(v.MapIndex(key), change))
		}
	default:
		out.Set(v)
	}
	return out
}

func shadowOf[T any](v T, change func(string) string) T {
	return shadow(reflect.ValueOf(&v).Elem(), change).Interface().(T)
}

// texts are all texts in a value.
func texts(v any) map[string]bool {
	all := map[string]bool{}
	shadow(reflect.ValueOf(&v).Elem(), func(s string) string { all[s] = true; return s })
	return all
}

// at poisons one text wherever it stands: by itself, or at the end of an ARN, of
// a path or of a tag's key.
func at(value string) func(string) string {
	return func(s string) string {
		if s == value || strings.HasSuffix(s, "/"+value) || strings.HasSuffix(s, ":"+value) || strings.HasSuffix(s, "="+value) {
			return s + poison
		}
		return s
	}
}

// spoken are the texts that code compares with: with another state, protocol or
// tag there is no finding. They are the string literals of the deciding packages.
func spoken(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	var paths []string
	err := filepath.WalkDir("../../shared", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 150 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil {
					all[text] = true
				}
			}
			return true
		})
	}
	return all
}

// everything poisons every text but those that code compares with.
func everything(spared map[string]bool) func(string) string {
	return func(s string) string {
		if s == "" || spared[s] {
			return s
		}
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return s
		}
		return s + poison
	}
}

const (
	account = "111122223333"
	region  = "us-west-2"
)

// corpus are the worlds of the corpus by their names.
func corpus(t *testing.T) map[string]*worldfile.File {
	t.Helper()
	paths, err := filepath.Glob("../../stage/worlds/corpus/*.yaml")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d worlds, %v", len(paths), err)
	}
	worlds := map[string]*worldfile.File{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if name == "unseen" {
			continue
		}
		f, err := worldfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		worlds[name] = f
	}
	return worlds
}

// snapshots reads each cluster of a world with the functions' own reader, with
// all that any check looks at.
func snapshots(t *testing.T, f *worldfile.File) []*snapshot.Snapshot {
	t.Helper()
	w, err := world.New(f, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	admin := simaws.AdminIdentity(account, "test")
	network := loopback.New()
	served, err := simaws.Start(ctx, simaws.Config{
		Account: account, Region: region, Identities: []simaws.Identity{admin},
		World:    w.API(),
		Clusters: w.Clusters(), Endpoints: true,
		Objects: func(name, plural string) ([]json.RawMessage, string, error) {
			list, err := w.Kubernetes(name, plural)
			if errors.Is(err, kubestate.ErrNoKind) {
				return nil, "", kubeapi.NotInstalled()
			}
			return list.Items, list.ResourceVersion, err
		},
		Now: w.Now, Wall: time.Now, Network: network,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	reader := gather.New(aws.Config{
		Region: region, BaseEndpoint: aws.String(served.Endpoint()), HTTPClient: &http.Client{Transport: network},
		Credentials: credentials.NewStaticCredentialsProvider(admin.AccessKeyID, admin.SecretAccessKey, ""),
		Retryer:     func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 3) },
	}).WithEndpoints(func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
		endpoint, ca, ok = served.Kubernetes(cluster)
		return endpoint, ca, network, ok
	})
	var list []*snapshot.Snapshot
	for _, c := range w.Clusters() {
		if s := read(ctx, t, reader, f, w, c); s != nil {
			list = append(list, s)
		}
	}
	return list
}

func read(ctx context.Context, t *testing.T, reader *gather.Reader, f *worldfile.File, w *world.World, cluster string) *snapshot.Snapshot {
	t.Helper()
	var ids []string
	for _, i := range f.EC2.Instances {
		ids = append(ids, aws.ToString(i.InstanceId))
	}
	instances, failed := reader.Find(ctx, ids, nil)
	if failed != nil {
		t.Fatal(failed)
	}
	groups, failed := reader.Groups(ctx, detect.GroupsOf(instances))
	if failed != nil {
		t.Fatal(failed)
	}
	q := gather.Query{
		Account: account, Region: region, Time: w.Now(), Cluster: cluster, Instances: instances, Groups: groups, AllNodegroups: true,
		Sources: gather.JoinSources(checks.All()), Scope: snapshot.Scope{Instances: ids},
	}
	for _, in := range instances {
		q.Launches = append(q.Launches, snapshot.ExpectedJoin{Instance: in.ID, Started: in.Launched, Due: in.Launched.Add(5 * time.Minute)})
		if in.Subnet != "" {
			q.Scope.Subnets = append(q.Scope.Subnets, in.Subnet)
		}
	}
	s, err := reader.Read(ctx, q)
	if err != nil && !errors.Is(err, gather.ErrNoCluster) {
		t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return s
}
