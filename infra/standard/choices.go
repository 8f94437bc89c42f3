package standard

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	p "rollcall/infra/standard/parameters"
)

// choice is one condition of the template. The app is synthesised with all choices as Base has
// them, and once for each choice with the other value.
type choice struct {
	name string
	when any // the condition
	base bool
	// without lists the choices that cannot be made where this one is not (or, where base is
	// false, where it is).
	without []string
}

func equals(name, value string) any {
	return map[string]any{"Fn::Equals": []any{ref(name), value}}
}
func not(condition any) any { return map[string]any{"Fn::Not": []any{condition}} }
func given(name string) any { return not(equals(name, "")) }

// choices are all of them.
func choices() []choice {
	return []choice{
		{name: "HasSlackSecret", when: given(p.SlackSecretARN), base: true},
		{name: "HasSigningSecret", when: given(p.SigningSecretARN), base: true},
		{name: "HasSlackKey", when: given(p.SlackSecretKMSKey), base: true},
		{name: "HasTargetKey", when: given(p.TargetSecretKMSKey), base: true},
		{name: "HasButtons", when: equals(p.SlackActions, "on"), base: true},
		{name: "HasTargets", when: not(equals(p.Targets, "none")), base: true, without: []string{"HasTargetSecrets", "HasTargetTopics", "MakesTargetTopic", "HasTargetEmail"}},
		{name: "HasTargetSecrets", when: given(p.TargetSecrets), base: true},
		{name: "HasTargetTopics", when: given(p.TargetTopics), base: true},
		{name: "MakesTargetTopic", when: equals(p.MakeTargetTopic, "on"), base: true, without: []string{"HasTargetEmail"}},
		{name: "HasTargetEmail", when: given(p.TargetEmail), base: true},
		{name: "HasAccessPolicies", when: equals(p.KubernetesAccess, "policy")},
		{name: "HasNoAccess", when: equals(p.KubernetesAccess, "none")},
		{name: "HasAccessClusters", when: given(p.AccessClusters), base: true},
		{name: inVPC, when: given(p.VPCSubnetIDs), base: true},
		{name: "HasAlarmTopic", when: given(p.AlarmTopicARN), without: []string{"HasAlarmEmail"}},
		{name: "HasAlarmEmail", when: given(p.AlarmEmail), base: true},
		{name: "KeepsEvidence", when: not(equals(p.Evidence, "off")), base: true},
		{name: "HasDashboard", when: equals(p.Dashboard, "on"), base: true},
		{name: "DecodesDenied", when: equals(p.DecodeDenied, "on"), base: true},
		{name: readsInstanceData, when: equals(p.InstanceData, "on"), base: true},
		{name: "ReadsAutoModeLogs", when: not(equals(p.AutoModeLogs, "off")), base: true},
		{name: "HasSpokes", when: given(p.SpokeAccounts), base: true, without: []string{"HasSpokeCleaners", "HasSpokeRemediators"}},
		{name: "HasSpokeCleaners", when: given(p.SpokeCleanerRoles), base: true},
		{name: "HasSpokeRemediators", when: given(p.SpokeRemediatorRoles), base: true},
		{name: "DeletesInterfaces", when: given(p.InterfaceClusters), base: true, without: []string{"DeletesUntagged"}},
		{name: "DeletesUntagged", when: given(p.InterfaceVPCs), base: true},
		{name: "AddsRoutes", when: given(p.RouteClusters), base: true},
		{name: "OpensEndpoints", when: given(p.EndpointClusters), base: true},
		{name: "ReplacesInstances", when: given(p.ReplaceClusters), base: true},
		{name: "CoversZones", when: given(p.ZoneClusters), base: true},
		{name: "CreatesAccessEntries", when: given(p.AccessEntryClusters), base: true},
		{name: "HasRemedyVpcs", when: not(equals(p.RemedyVPCs, "none")), base: true},
		{name: "HasRemedyRoles", when: not(equals(p.RemedyRoles, "none")), base: true},
		{name: "HasKey", when: not(equals(p.KMSKey, "none")), base: true},
		{name: "HasBoundary", when: given(p.PermissionsBoundary), base: true},
		{name: "HasRelays", when: given(p.RelayFunctions), base: true},
	}
}

// together are pairs of choices that are changed in one template, where what only a changed
// choice has hangs on another one.
func together() [][2]string {
	return [][2]string{{"HasSigningSecret", "HasButtons"}, {"HasKey", "KeepsEvidence"}}
}

// Assignment is one setting of all choices.
type Assignment map[string]bool

// Assignments are those with which the app is synthesised.
func Assignments() []Assignment {
	base, rows := Assignment{}, map[string]choice{}
	for _, c := range choices() {
		base[c.name], rows[c.name] = c.base, c
	}
	changed := func(names ...string) Assignment {
		a := maps.Clone(base)
		for _, name := range names {
			a[name] = !rows[name].base
			for _, other := range rows[name].without {
				a[other] = false
			}
		}
		return a
	}
	all := []Assignment{base}
	for _, c := range choices() {
		all = append(all, changed(c.name))
	}
	for _, pair := range together() {
		all = append(all, changed(pair[0], pair[1]))
	}
	return all
}

// The stand-ins: values that settings.Parse accepts and that stand nowhere else in a template.
// A list's items have its letters and their number.
const (
	stackName   = "Zqxstack"
	slackSecret = "arn:aws:secretsmanager:us-zqs-1:111122223333:secret:zqslack-AbCdEf"
	slackRegion = "us-zqs-1"
	signSecret  = "arn:aws:secretsmanager:us-zqg-1:111122223333:secret:zqsigning-AbCdEf"
	signRegion  = "us-zqg-1"
	slackKey    = "arn:aws:kms:us-west-2:111122223333:key/zqslack"
	targetKey   = "arn:aws:kms:us-west-2:111122223333:key/zqtargets"
	alarmTopic  = "arn:aws:sns:us-west-2:111122223333:zqalarms"
	boundary    = "arn:aws:iam::111122223333:policy/zqboundary"
	rolePath    = "/zqpath/"
	stackKey    = "arn:aws:kms:us-west-2:111122223333:key/7a710000-57ac-4000-8000-7a7100005ac0"
	alarmEmail  = "zqalarms@example.com"
	evidence    = 337
	logDays     = 3288
	joinMinutes = 13
	sweepers    = 47
)

// list is a parameter whose items stand in the template.
type list struct {
	parameter string
	// begin and end are around the four digits of an item.
	begin, end string
	most       int
}

func lists() []list {
	return []list{
		{p.AccessClusters, "zqa", "", p.MostAccessEntries},
		{p.InterfaceClusters, "zqd", "", p.MostClusters},
		{p.ReplaceClusters, "zqr", "", p.MostClusters},
		{p.ZoneClusters, "zqz", "", p.MostClusters},
		{p.AccessEntryClusters, "zqc", "", p.MostClusters},
		{p.TargetSecrets, "zqs", "", p.MostTargetSecrets}, // with a topic and sns ten, as many as there can be
		{p.TargetTopics, "arn:aws:sns:us-east-1:111122223333:zqt", "", 1},
		{p.TargetEmail, "zqm", "@example.com", p.MostEmails},
		{p.AutoModeLogs, "zql", "", p.MostLogGroups},
		{p.RelayFunctions, "zqxstack-relay-zqy", "", p.MostRelays},
		{p.VPCSubnetIDs, "subnet-5e0a", "", p.MostSubnets},
		{p.VPCSecurityGroupIDs, "sg-5e0b", "", p.MostGroups},
		{p.RemedyVPCs, "vpc-5e0c", "", p.MostVPCs},
		{p.InterfaceVPCs, "vpc-5e0d", "", p.MostVPCs},
		{p.RemedyRoles, "arn:aws:iam::111122223333:role/zqn", "", 2},
		{p.SpokeReaderRoles, "arn:aws:iam::99000000", ":role/zqpath/zqxstack-reader-eu-west-1", 2},
		{p.SpokeCleanerRoles, "arn:aws:iam::99000000", ":role/zqpath/zqxstack-cleaner-eu-west-1", 2},
		{p.SpokeRemediatorRoles, "arn:aws:iam::99000000", ":role/zqpath/zqxstack-remediator-eu-west-1", 2},
		{p.SpokeAccounts, "99000000", "", 2},
	}
}

func (l list) item(n int) string { return fmt.Sprintf("%s%04d%s", l.begin, n, l.end) }

func (l list) form() string {
	return regexp.QuoteMeta(l.begin) + `([0-9]{4})` + regexp.QuoteMeta(l.end)
}

func (l list) items() []string {
	var all []string
	for n := 1; n <= l.most; n++ {
		all = append(all, l.item(n))
	}
	return all
}

// Settings are the settings, as the app reads them, under an assignment.
func Settings(a Assignment) map[string]any {
	items := func(parameter, form string) string {
		i := slices.IndexFunc(lists(), func(l list) bool { return l.parameter == parameter })
		var all []string
		for _, item := range lists()[i].items() {
			all = append(all, strings.ReplaceAll(form, "%", item))
		}
		return strings.Join(all, ",")
	}
	where := func(name, yes, no string) string {
		if a[name] {
			return yes
		}
		return no
	}
	several := func(none string, parts ...string) string {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if len(parts) == 0 {
			return none
		}
		return strings.Join(parts, ",")
	}
	secrets := strings.ReplaceAll(items(p.TargetSecrets, "%"), "zqs", "webhook=zqs")
	topics := strings.ReplaceAll(items(p.TargetTopics, "%"), "arn:", "sns=arn:")
	relayed := func(function string) string { return strings.ReplaceAll(function, "zqxstack-relay-", "") }
	const spokeA, spokeB = "990000000001/eu-west-1", "990000000002/eu-west-1"
	return map[string]any{
		"stackName": stackName, "slackChannel": "C0123456789",
		"slackSecretArn":        where("HasSlackSecret", slackSecret, ""),
		"slackSigningSecretArn": where("HasSigningSecret", signSecret, ""),
		"slackSecretKmsKeyArn":  where("HasSlackKey", slackKey, ""),
		"targetSecretKmsKeyArn": where("HasTargetKey", targetKey, ""),
		"slackActions":          where("HasButtons", "on", "off"),
		"targets":               several("none", where("HasTargetSecrets", secrets, ""), where("HasTargetTopics", topics, ""), where("MakesTargetTopic", "sns", "")),
		"targetEmail":           where("HasTargetEmail", items(p.TargetEmail, "%"), ""),
		"kubernetesAccess":      where("HasNoAccess", "none", where("HasAccessPolicies", "policy", "group")),
		"accessClusters":        where("HasAccessClusters", items(p.AccessClusters, "%"), ""),
		"vpcSubnetIds":          where(inVPC, items(p.VPCSubnetIDs, "%"), ""),
		"vpcSecurityGroupIds":   where(inVPC, items(p.VPCSecurityGroupIDs, "%"), ""),
		"alarmTopicArn":         where("HasAlarmTopic", alarmTopic, ""),
		"alarmEmail":            where("HasAlarmEmail", alarmEmail, ""),
		"permissionsBoundary":   where("HasBoundary", boundary, ""),
		"kmsKeyArn":             where("HasKey", stackKey, "none"),
		"rolePath":              rolePath,
		"evidence":              where("KeepsEvidence", fmt.Sprint(evidence), "off"),
		"dashboard":             where("HasDashboard", "on", "off"),
		"decodeDenied":          where("DecodesDenied", "on", "off"),
		"instanceData":          where(readsInstanceData, "on", "off"),
		"autoModeLogs":          where("ReadsAutoModeLogs", items(p.AutoModeLogs, "%"), "off"),
		"spokes":                where("HasSpokes", spokeA+","+spokeB, "none"),
		"externalId":            where("HasSpokes", "zq-external-id", "none"),
		"relays":                where("HasRelays", relayed(items(p.RelayFunctions, "%")), "none"),
		"cleanupUntagged":       where("DeletesUntagged", items(p.InterfaceVPCs, "%"), "none"),
		"remedyVpcs":            where("HasRemedyVpcs", items(p.RemedyVPCs, "%"), "none"),
		"remedyRoles":           where("HasRemedyRoles", items(p.RemedyRoles, "%"), "none"),
		"logRetentionDays":      fmt.Sprint(logDays),
		"joinTime":              fmt.Sprintf("%dm", joinMinutes),
		"sweepConcurrency":      fmt.Sprint(sweepers),
		"cleanup": several("report", where("DeletesInterfaces", items(p.InterfaceClusters, "%=delete"), ""),
			where("HasSpokeCleaners", spokeA+"/zq=delete,"+spokeB+"/zq=delete", "")),
		"remedies": several("off",
			where("AddsRoutes", "zqnat/add-nat-route=approve", ""), where("OpensEndpoints", "zqend/open-endpoint-security-group=approve", ""),
			where("ReplacesInstances", items(p.ReplaceClusters, "%/replace-instance=approve"), ""), where("CoversZones", items(p.ZoneClusters, "%/cover-zones=approve"), ""),
			where("CreatesAccessEntries", items(p.AccessEntryClusters, "%/create-access-entry=approve"), ""),
			where("HasSpokeRemediators", spokeA+"/zq/replace-instance=approve,"+spokeB+"/zq/replace-instance=approve", "")),
	}
}
