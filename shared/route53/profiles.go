package route53

import (
	"context"
	"fmt"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsjson"
)

// profilesService is Route 53 Profiles: which Profiles are associated with a VPC, and what they
// bring into it. Members and bounds are those of botocore's model (route53profiles/2018-05-10).
// A page of 100 associations is about 100 KB.
func profilesService() awsjson.Service {
	return awsjson.Service{ID: "Route53Profiles", Name: "route53profiles", MostBytes: 4 << 20}
}

// maxResults is the size of the largest page.
const maxResults = 100

// Profiles calls Route 53 Profiles.
type Profiles struct{ calls *awsjson.Client }

// NewProfiles makes a client of what all AWS clients are made of.
func NewProfiles(cfg aws.Config) *Profiles {
	return &Profiles{calls: awsjson.New(cfg, profilesService())}
}

// ProfileAssociation is the association of a Profile with a VPC.
type ProfileAssociation struct {
	Profile string `json:"ProfileId"`
	VPC     string `json:"ResourceId"`
	Status  string // COMPLETE, CREATING, UPDATING, DELETING, DELETED, FAILED
	// Priority orders the Profiles of one VPC, the lowest first (Route 53 developer guide,
	// "Updating the priority of a Route 53 Profile association with a VPC"); 0 where the
	// service does not return it.
	Priority int `json:",omitempty"`
}

// ProfileResource is the association of a resource with a Profile.
type ProfileResource struct {
	Profile    string `json:"ProfileId"`
	ARN        string `json:"ResourceArn"`
	Type       string `json:"ResourceType"` // FIREWALL_RULE_GROUP and others
	Name       string
	Properties string `json:"ResourceProperties,omitempty"` // of a rule group: {"priority":102}
	Status     string
}

// ProfilesAsk holds the parameters of a call; one that a call does not have stays empty.
type ProfilesAsk struct {
	Profile    string
	VPC        string
	MaxResults int32
	NextToken  string
}

// Associations returns a page of the Profiles of a VPC, and the token of the next page. It
// fails with *smithy.OperationError, as all calls do here.
func (c *Profiles) Associations(ctx context.Context, vpc, token string) ([]ProfileAssociation, string, error) {
	var out struct {
		List []ProfileAssociation `json:"ProfileAssociations"`
		Next string               `json:"NextToken,omitempty"`
	}
	err := c.get(ctx, "ListProfileAssociations", "profileassociations", ProfilesAsk{VPC: vpc, NextToken: token}, &out)
	return out.List, out.Next, err
}

// Resources returns a page of the resources of a Profile likewise.
func (c *Profiles) Resources(ctx context.Context, profile, token string) ([]ProfileResource, string, error) {
	var out struct {
		List []ProfileResource `json:"ProfileResourceAssociations"`
		Next string            `json:"NextToken,omitempty"`
	}
	path := "profileresourceassociations/profileid/" + url.PathEscape(profile)
	err := c.get(ctx, "ListProfileResourceAssociations", path, ProfilesAsk{Profile: profile, NextToken: token}, &out)
	return out.List, out.Next, err
}

func (c *Profiles) get(ctx context.Context, operation, path string, ask ProfilesAsk, out any) error {
	ask.MaxResults = maxResults
	query := url.Values{"maxResults": {fmt.Sprint(ask.MaxResults)}}
	if ask.VPC != "" {
		query.Set("resourceId", ask.VPC)
	}
	if ask.NextToken != "" {
		query.Set("nextToken", ask.NextToken)
	}
	return c.calls.Get(ctx, operation, path, query, ask, out)
}
