package slack

import (
	"net/url"
	"regexp"
	"strings"

	"rollcall/shared/slack/slacktext"
)

// ids finds the ids of AWS resources in text. The left part of the match is
// the kind, which says where the console shows it.
var ids = regexp.MustCompile(`\b(i|subnet|rtb|nat|igw|eigw|vpce|vpc|sg|eni|acl|tgw|pcx|vgw|eipalloc|lt|ami|vol)-[0-9a-f]{3,17}\b`)

// codes finds what is set in monospace: ids, and permissions such as
// ec2:DescribeRouteTables.
var codes = regexp.MustCompile(ids.String() + `|\b[a-z][a-z0-9-]+:[A-Z][a-z]+[A-Z][A-Za-z]+\b`)

var region = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d$`)

// place is where an account's resources are.
type place struct{ partition, region string }

// console is the page of one resource in the AWS console; empty if there is none.
func (p place) console(id string) string {
	domain := map[string]string{
		"aws":        "console.aws.amazon.com",
		"aws-cn":     "console.amazonaws.cn",
		"aws-us-gov": "console.amazonaws-us-gov.com",
	}[p.partition]
	kind, _, _ := strings.Cut(id, "-")
	page := map[string]string{
		"i":      "ec2/home#InstanceDetails:instanceId=",
		"sg":     "ec2/home#SecurityGroup:groupId=",
		"eni":    "ec2/home#NetworkInterface:networkInterfaceId=",
		"vol":    "ec2/home#VolumeDetails:volumeId=",
		"subnet": "vpcconsole/home#SubnetDetails:subnetId=",
		"rtb":    "vpcconsole/home#RouteTableDetails:RouteTableId=",
		"nat":    "vpcconsole/home#NatGatewayDetails:natGatewayId=",
		"igw":    "vpcconsole/home#InternetGateway:internetGatewayId=",
		"vpce":   "vpcconsole/home#EndpointDetails:vpcEndpointId=",
		"vpc":    "vpcconsole/home#VpcDetails:VpcId=",
		"acl":    "vpcconsole/home#NetworkAclDetails:networkAclId=",
		"tgw":    "vpcconsole/home#TransitGatewayDetails:transitGatewayId=",
	}[kind]
	if domain == "" || page == "" || ids.FindString(id) != id || !region.MatchString(p.region) {
		return ""
	}
	path, fragment, _ := strings.Cut(page, "#")
	return "https://" + p.region + "." + domain + "/" + path + "?region=" + p.region + "#" + fragment + id
}

// hosts are those of AWS's console and documentation, in each partition
// (docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html names the partitions;
// docs.amazonaws.cn/en_us/aws/latest/userguide, docs.aws.amazon.com/govcloud-us). The
// console has a host for each region before it.
var hosts = regexp.MustCompile(`^(?:(?:[a-z]{2}(?:-[a-z]+)+-\d\.)?console\.(?:aws\.amazon\.com|amazonaws\.cn|amazonaws-us-gov\.com)|docs\.aws\.amazon\.com|docs\.amazonaws\.cn)$`)

// web passes an https address of AWS's console or documentation, of a sane length,
// and nothing else: what is in an incident's record may have come from anywhere.
func web(address string) string {
	const maxURL = 3000 // of a button or link, docs.slack.dev/reference/block-kit
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || !hosts.MatchString(u.Host) || slacktext.Length(address) > maxURL {
		return ""
	}
	return u.String()
}

// capital writes the first letter large, unless s starts with an id.
func capital(s string) string {
	if strings.TrimSpace(s) == "" {
		return s
	}
	// Ids and names of zones stay as they are.
	if first := strings.Fields(s)[0]; ids.MatchString(first) || strings.Contains(first, "-") && strings.ContainsAny(first, "0123456789") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
