package messagecheck

import (
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// claimsOfRules are ports, rules, roles and what Kubernetes asks.
func claimsOfRules() []claim {
	return []claim{
		{form(`\b(?:tcp|udp|ports) (\d+(?:-\d+)?)(?: and (\d+-\d+…?))?`), ports},
		{form(`\b(?:denies|lets out no|does not admit|Admit|admits) (\d+(?:-\d+)?)(?: |$)`), ports},
		{form(`\brule (\d+) (?:denies|allows)`), fields("RuleNumber")},
		{form(`\b(401) Unauthorized`), documented},
		// RFC 1123, kubernetes.io/docs/concepts/overview/working-with-objects/names.
		{form(`\bis (\S+): (\d+) characters, and a node's name has at most (63)\b`), func(s said) string {
			if len(s.m[1]) != amount(s.m[2]) {
				return fmt.Sprintf("it has %d", len(s.m[1]))
			}
			host, domain, _ := strings.Cut(s.m[1], ".")
			if !s.facts.says(strings.ReplaceAll(strings.TrimPrefix(host, "ip-"), "-", ".")) || !s.facts.says(domain) {
				return "no instance has that address and domain"
			}
			return ""
		}},
		{form(`\bgives (\d+) domain names at once`), is(func(s said) (int, bool) {
			m := regexp.MustCompile(`"Key":"domain-name","Values":\[\{[^}]*"Value":"([^"]*)"`).FindStringSubmatch(s.facts.text)
			if m == nil {
				return 0, false
			}
			return len(strings.Fields(m[1])), true
		})},
		{form(`\btheir hop limit is (\d+)\b`), func(s said) string {
			if !regexp.MustCompile(`(?i)HttpPutResponseHopLimit\W+` + s.m[1] + `\b`).MatchString(s.facts.raw) {
				return "no instance has that hop limit"
			}
			return ""
		}},
		// What pods need: one hop to the node's network, one to the metadata service
		// (EKS best practices, "Identity and access management").
		{form(`\ba hop limit of (\d+) where`), is(func(said) (int, bool) { return 2, true })},
		{form(`\bmapRoles, entry (\d+): (\S+):`), func(s said) string { return s.facts.entry(amount(s.m[1]), s.m[2]) }},
		{form(`\(entry (\d+) of mapRoles\)`), func(s said) string { return s.facts.entry(amount(s.m[1]), "{{SessionName}}") }},
		{form(`\bis mapped to (\d+) different users`), is(func(s said) (int, bool) {
			role := ""
			for _, l := range s.lines {
				if role = regexp.MustCompile(`arn:aws\S*:role/[\w/+=,.@-]+`).FindString(l.Text); role != "" {
					break
				}
			}
			users := map[string]bool{}
			for _, e := range s.facts.mapRoles() {
				if strings.Contains(e, role) {
					users[regexp.MustCompile(`username: *(\S+)`).FindString(e)] = true
				}
			}
			return len(users), role != ""
		})},
		// The library that reads YAML counts so; the line is one of the map's.
		{form(`\byaml: line (\d+): `), func(s said) string {
			if lines := strings.Count(s.facts.rolesText(), "\n"); amount(s.m[1]) > lines+1 {
				return fmt.Sprintf("mapRoles has %d lines", lines)
			}
			return ""
		}},
		{form(`\bis not node\.eks\.aws/(v1alpha1) \(line (\d+)\) in part (\d+)\b`), func(s said) string {
			return s.facts.part(amount(s.m[3]), amount(s.m[2]), "apiVersion:")
		}},
		{form(`\bthe header of part (\d+) is not ended`), func(s said) string { return s.facts.part(amount(s.m[1]), 0, "") }},
		{form(`\bSHA-(256) ([0-9a-f]{16})…`), func(s said) string {
			for _, m := range authority.FindAllStringSubmatch(s.facts.text, -1) {
				if block, _ := pem.Decode([]byte(unpacked(m[1]))); block != nil && strings.HasPrefix(fmt.Sprintf("%x", sha256.Sum256(block.Bytes)), s.m[2]) {
					return ""
				}
			}
			return "no certificate authority has that sum"
		}},
	}
}

// authority is a cluster's, or what user data gives for it.
var authority = regexp.MustCompile(`(?:certificateAuthority: *|--b64-cluster-ca +'?|"certificateAuthority":\{"data":"|"CertificateAuthority":\{"Data":")([A-Za-z0-9+/]+=*)`)

// ports are those that nodes need, those that a rule of the world has, and the borders of
// what the one leaves out of the other. Linux chooses 32768 to 60999
// (docs.kernel.org/networking/ip-sysctl, ip_local_port_range), a NAT gateway 1024 to 65535
// (docs.aws.amazon.com/vpc/latest/userguide/nacl-ephemeral-ports).
func ports(s said) string {
	for _, p := range s.m[1:] {
		// A headline is cut.
		cut := strings.HasSuffix(p, "…")
		from, to, ranged := strings.Cut(strings.TrimSuffix(p, "…"), "-")
		if !ranged {
			to = from
		}
		for n, border := range []string{from, to} {
			if border == "" || slices.Contains([]string{"443", "53", "10250", "32768", "60999", "1024", "65535"}, border) || n == 1 && cut {
				continue
			}
			// What a rule lets through ends where what is denied begins.
			if !ranged {
				return "nodes do not need it"
			}
			before, after := fmt.Sprint(amount(border)-1), fmt.Sprint(amount(border)+1)
			if before != "60999" && after != "32768" &&
				!regexp.MustCompile(`"(?:From|To)(?:Port)?":(?:`+border+`|`+before+`|`+after+`)\b`).MatchString(s.facts.text) {
				return "no rule ends at port " + border
			}
		}
	}
	return ""
}
