package commandtest

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/shared/snapshot"
)

// change is a call of a command to paste that changes something: its flags, and what the
// same command did before.
type change struct {
	words  []string
	flags  map[string][]string
	before []string // verbs
}

func (c change) of(flag string) string {
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
		want := netip.MustParsePrefix(c.of("destination-cidr-block") + c.of("destination-ipv6-cidr-block"))
		for _, t := range s.RouteTables {
			for i, r := range t.Routes {
				// A static route may stand beside a propagated one, and wins.
				static := r.Origin != "EnableVgwRoutePropagation" && r.Origin != "Advertisement"
				if t.ID == c.of("route-table-id") && r.Destination == want && static {
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
			peer, all := c.of("source-group")+c.of("cidr"), strings.Join(c.flags["--ip-permissions"], " ")
			port, _ := strconv.Atoi(c.of("port"))
			return slices.ContainsFunc(s.SecurityGroups, func(g snapshot.SecurityGroup) bool {
				return g.ID == c.of("group-id") && slices.ContainsFunc(of(g), func(r snapshot.Rule) bool {
					if all != "" {
						return r.Protocol == "-1" && slices.ContainsFunc(r.Groups, func(id string) bool {
							return strings.Contains(all, "IpProtocol=-1") && strings.Contains(all, "GroupId="+id)
						})
					}
					fits := r.Protocol == "-1" || r.Protocol == c.of("protocol") && (r.From == -1 || r.From <= port && port <= r.To)
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
				target += c.of(flag)
			}
			return r == nil || r.State == "active" && r.Target.ID == target
		},
		"ec2 authorize-security-group-ingress": rule(func(g snapshot.SecurityGroup) []snapshot.Rule { return g.Ingress }),
		"ec2 authorize-security-group-egress":  rule(func(g snapshot.SecurityGroup) []snapshot.Rule { return g.Egress }),
		"ec2 create-network-acl-entry": func(s *snapshot.Snapshot, c change) bool {
			number, _ := strconv.Atoi(c.of("rule-number"))
			return slices.ContainsFunc(s.NetworkACLs, func(a snapshot.NetworkACL) bool {
				return a.ID == c.of("network-acl-id") && slices.ContainsFunc(a.Entries, func(e snapshot.ACLEntry) bool { return e.Number == number && e.Egress == c.has("egress") })
			})
		},
		"ec2 associate-route-table": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.RouteTables, func(t snapshot.RouteTable) bool {
				return t.ID == c.of("route-table-id") && slices.Contains(t.Subnets, c.of("subnet-id"))
			})
		},
		"ec2 associate-subnet-cidr-block": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Subnets, func(n snapshot.Subnet) bool {
				return n.ID == c.of("subnet-id") && slices.ContainsFunc(n.IPv6, func(p netip.Prefix) bool { return p.String() == c.of("ipv6-cidr-block") })
			})
		},
		"ec2 attach-internet-gateway": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.InternetGateways, func(g snapshot.InternetGateway) bool {
				return g.ID == c.of("internet-gateway-id") && slices.Contains(g.Attached, c.of("vpc-id"))
			})
		},
		"ec2 create-vpc-endpoint": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Endpoints, func(e snapshot.Endpoint) bool {
				return e.VPC == c.of("vpc-id") && e.Service == c.of("service-name") && e.Kind == c.of("vpc-endpoint-type") && e.State == "available"
			})
		},
		"ec2 modify-vpc-endpoint": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Endpoints, func(e snapshot.Endpoint) bool {
				return e.ID == c.of("vpc-endpoint-id") && (!c.has("private-dns-enabled") || e.PrivateDNS) &&
					!slices.ContainsFunc(c.flags["--add-subnet-ids"], func(id string) bool { return !slices.Contains(e.Subnets, id) }) &&
					!slices.ContainsFunc(c.flags["--add-route-table-ids"], func(id string) bool { return !slices.Contains(e.RouteTables, id) })
			})
		},
		"ec2 modify-vpc-attribute": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.VPCAttributes, func(a snapshot.VPCAttributes) bool {
				return a.VPC == c.of("vpc-id") && (c.has("enable-dns-support") && a.DNSSupport || c.has("enable-dns-hostnames") && a.DNSHostnames)
			})
		},
		"ec2 modify-subnet-attribute": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Subnets, func(n snapshot.Subnet) bool {
				return n.ID == c.of("subnet-id") && (c.has("map-public-ip-on-launch") && n.AssignPublicIP || c.has("assign-ipv6-address-on-creation") && n.AssignIPv6)
			})
		},
		"ec2 modify-instance-metadata-options": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.of("instance-id"), func(i snapshot.Instance) bool {
				return (!c.has("http-endpoint") || i.Metadata.Endpoint == c.of("http-endpoint")) &&
					(!c.has("http-put-response-hop-limit") || strconv.Itoa(i.Metadata.HopLimit) == c.of("http-put-response-hop-limit"))
			})
		},
		"ec2 modify-network-interface-attribute": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Interfaces, func(i snapshot.Interface) bool {
				if i.ID != c.of("network-interface-id") {
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
				return e.Resource == c.of("subnet-id")+c.of("vpc-id") && e.Active && (!e.Egress || c.of("internet-gateway-exclusion-mode") == "allow-egress")
			})
		},
		"ec2 create-tags": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.of("resources"), func(i snapshot.Instance) bool {
				return tagged(i.Tags, member(c.flags["--tags"], "Key"), member(c.flags["--tags"], "Value"))
			})
		},
		"ec2 delete-network-interface": func(s *snapshot.Snapshot, c change) bool {
			return !slices.ContainsFunc(s.Idle, func(i snapshot.Interface) bool {
				return i.ID == c.of("network-interface-id") && i.Status == "available"
			})
		},
		"ec2 start-instances": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.of("instance-ids"), func(i snapshot.Instance) bool { return i.State == "running" })
		},
		"ec2 associate-iam-instance-profile": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.of("instance-id"), func(i snapshot.Instance) bool { return i.Profile != "" })
		},
		"autoscaling create-or-update-tags": func(s *snapshot.Snapshot, c change) bool {
			tags := c.flags["--tags"]
			return slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool {
				return g.Name == member(tags, "ResourceId") && tagged(g.Tags, member(tags, "Key"), member(tags, "Value"))
			})
		},
		"autoscaling terminate-instance-in-auto-scaling-group": func(s *snapshot.Snapshot, c change) bool {
			return instance(s, c.of("instance-id"), func(i snapshot.Instance) bool { return i.State == "terminated" || i.State == "shutting-down" })
		},
		"eks create-access-entry": func(s *snapshot.Snapshot, c change) bool {
			_, is := entry(s, c.of("principal-arn"))
			return is && !slices.Contains(c.before, "eks delete-access-entry")
		},
		"eks delete-access-entry": func(s *snapshot.Snapshot, c change) bool {
			_, is := entry(s, c.of("principal-arn"))
			return !is
		},
		"eks associate-access-policy": func(s *snapshot.Snapshot, c change) bool {
			e, is := entry(s, c.of("principal-arn"))
			return is && !slices.Contains(c.before, "eks delete-access-entry") &&
				slices.ContainsFunc(e.Policies, func(p snapshot.AccessPolicy) bool { return p.ARN == c.of("policy-arn") && len(p.Namespaces) == 0 })
		},
		"eks create-addon": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == c.of("addon-name") })
		},
		"eks update-cluster-config": func(s *snapshot.Snapshot, c change) bool {
			return c.of("resources-vpc-config") == "endpointPrivateAccess=true" && s.Cluster.EndpointPrivate
		},
		"eks update-nodegroup-config": func(s *snapshot.Snapshot, c change) bool {
			label := member(c.flags["--labels"], "removeLabels")
			return label != "" && slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool {
				_, is := n.Labels[label]
				return n.Name == c.of("nodegroup-name") && !is
			})
		},
		"iam attach-role-policy": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Roles, func(r snapshot.Role) bool {
				return r.Name == c.of("role-name") && slices.ContainsFunc(r.Policies, func(p snapshot.Policy) bool { return p.ARN == c.of("policy-arn") })
			})
		},
		"iam update-assume-role-policy": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Roles, func(r snapshot.Role) bool { return r.Name == c.of("role-name") && r.Trust == c.of("policy-document") })
		},
		"iam create-instance-profile": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Profiles, func(p snapshot.Profile) bool { return p.Name == c.of("instance-profile-name") })
		},
		"iam add-role-to-instance-profile": func(s *snapshot.Snapshot, c change) bool {
			return slices.ContainsFunc(s.Profiles, func(p snapshot.Profile) bool {
				return p.Name == c.of("instance-profile-name") && len(p.Roles) > 0
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
