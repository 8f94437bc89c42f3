// Package route53 makes the calls of Route 53, its Resolver and its Profiles that Rollcall
// needs. Client lists which private hosted zones are associated with a VPC, and the records of
// a zone; members and bounds are those of botocore's model (route53/2013-04-01).
package route53

import (
	"context"
	"encoding/xml"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/awscall"
)

// version is the first part of each path.
const version = "2013-04-01"

// The largest pages.
const (
	maxZones   = 100
	maxRecords = 300
)

// maxBytes bounds what is read of a response: 300 records take up to 1 MB.
const maxBytes = 4 << 20

// Client calls Route 53.
type Client struct{ cfg aws.Config }

// New makes a client of what all AWS clients are made of.
func New(cfg aws.Config) *Client { return &Client{cfg} }

// Zone is a private hosted zone that is associated with a VPC.
type Zone struct {
	ID    string `json:"HostedZoneId" xml:"HostedZoneId"`
	Name  string
	Owner Owner
}

// Owner is the account or the AWS service that made a zone.
type Owner struct {
	Account string `json:"OwningAccount,omitempty" xml:"OwningAccount"`
	Service string `json:"OwningService,omitempty" xml:"OwningService"`
}

// Record is a resource record set, without its values.
type Record struct {
	Name string
	Type string // A, AAAA, CNAME, NS, SOA, …
}

// Ask holds the parameters of a call; one that a call does not have stays empty.
type Ask struct {
	VPC       string
	Zone      string
	NextToken string
}

// Zones returns a page of the private hosted zones of a VPC, and the token of the next page.
// It fails with *smithy.OperationError, as all calls do here.
func (c *Client) Zones(ctx context.Context, vpc, token string) ([]Zone, string, error) {
	query := url.Values{"vpcid": {vpc}, "vpcregion": {c.cfg.Region}, "maxitems": {strconv.Itoa(maxZones)}}
	if token != "" {
		query.Set("nexttoken", token)
	}
	var out struct {
		List []Zone `json:"HostedZoneSummaries" xml:"HostedZoneSummaries>HostedZoneSummary"`
		Next string `json:"-" xml:"NextToken"`
	}
	err := c.Get(ctx, "ListHostedZonesByVPC", "hostedzonesbyvpc", query, Ask{VPC: vpc, NextToken: token}, &out)
	return out.List, out.Next, err
}

// Records returns a page of the records of a zone likewise. The token is where the next page
// begins: name, type and identifier of a record.
func (c *Client) Records(ctx context.Context, zone, token string) ([]Record, string, error) {
	query := url.Values{"maxitems": {strconv.Itoa(maxRecords)}}
	if token != "" {
		start, err := url.ParseQuery(token)
		if err != nil {
			return nil, "", err
		}
		for name, values := range start {
			query[name] = values
		}
	}
	var out struct {
		List       []Record `json:"ResourceRecordSets" xml:"ResourceRecordSets>ResourceRecordSet"`
		Truncated  bool     `json:"-" xml:"IsTruncated"`
		Name       string   `json:"-" xml:"NextRecordName"`
		Type       string   `json:"-" xml:"NextRecordType"`
		Identifier string   `json:"-" xml:"NextRecordIdentifier"`
	}
	if err := c.Get(ctx, "ListResourceRecordSets", "hostedzone/"+url.PathEscape(zone)+"/rrset", query, Ask{Zone: zone, NextToken: token}, &out); err != nil || !out.Truncated {
		return out.List, "", err
	}
	next := url.Values{"name": {out.Name}, "type": {out.Type}}
	if out.Identifier != "" {
		next.Set("identifier", out.Identifier)
	}
	return out.List, next.Encode(), nil
}

// Place is where Route 53, one service for a partition, is called: its address and the Region
// that requests are signed for (AWS General Reference, "Amazon Route 53 endpoints and quotas").
func Place(cfg aws.Config) (address, region string) {
	switch {
	case strings.HasPrefix(cfg.Region, "cn-"):
		address, region = "https://route53.amazonaws.com.cn/", "cn-northwest-1"
	case strings.HasPrefix(cfg.Region, "us-gov-"):
		address, region = "https://route53.us-gov.amazonaws.com/", "us-gov-west-1"
	default:
		address, region = "https://route53.amazonaws.com/", "us-east-1"
	}
	if cfg.BaseEndpoint != nil && *cfg.BaseEndpoint != "" {
		// For an address that was given the SDK signs for the configured Region.
		address, region = strings.TrimRight(*cfg.BaseEndpoint, "/")+"/", cfg.Region
	}
	return address, region
}

// Get makes a call whose parameters stand in the path and the query, and reads the response,
// which is XML, into out.
func (c *Client) Get(ctx context.Context, operation, path string, query url.Values, ask Ask, out any) error {
	address, region := Place(c.cfg)
	return awscall.Make(ctx, c.cfg, awscall.Call{
		ID: "Route 53", Name: "route53", Operation: operation, Region: region, Out: out,
		Write: func(req *smithyhttp.Request, _ any) (*smithyhttp.Request, error) {
			var err error
			req.Method = "GET"
			req.URL, err = url.Parse(address + version + "/" + path + "?" + query.Encode())
			return req, err
		},
		Read: func(resp *smithyhttp.Response) (any, error) {
			return out, xml.NewDecoder(io.LimitReader(resp.Body, maxBytes)).Decode(out)
		},
		Refused: refusal,
	}, ask)
}

// refusal is an error as Route 53 writes it.
func refusal(resp *smithyhttp.Response) error {
	var body struct {
		Code    string `xml:"Error>Code"`
		Message string `xml:"Error>Message"`
	}
	if err := xml.NewDecoder(io.LimitReader(resp.Body, maxBytes)).Decode(&body); err != nil || body.Code == "" {
		body.Code = "UnknownError"
	}
	e := &smithy.GenericAPIError{Code: body.Code, Message: body.Message, Fault: smithy.FaultClient}
	if resp.StatusCode >= 500 {
		e.Fault = smithy.FaultServer
	}
	return e
}
