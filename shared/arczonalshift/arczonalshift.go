// Package arczonalshift makes the few calls of ARC zonal shift that Rollcall needs: what is
// shifted away from a zone, by a person, by a practice run or by AWS. Members and bounds
// are those of botocore's model (arc-zonal-shift/2022-10-30).
package arczonalshift

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsjson"
)

// service is ARC zonal shift. A page of 100 resources is a few hundred KB at most.
func service() awsjson.Service {
	return awsjson.Service{ID: "ARC Zonal Shift", Name: "arc-zonal-shift", MostBytes: 4 << 20}
}

// mostOfPage is the largest page.
const mostOfPage = 100

// Client calls ARC zonal shift.
type Client struct{ calls *awsjson.Client }

// New makes a client of what all AWS clients are made of.
func New(cfg aws.Config) *Client { return &Client{calls: awsjson.New(cfg, service())} }

// Time is written by the service in seconds since 1970.
type Time struct{ time.Time }

// UnmarshalJSON reads the service's form, seconds since 1970, and that of the AWS CLI, which
// is written.
func (t *Time) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return t.Time.UnmarshalJSON(raw)
	}
	var seconds float64
	if err := json.Unmarshal(raw, &seconds); err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	t.Time = time.UnixMilli(int64(seconds * 1000)).UTC()
	return nil
}

// ZonalShift is a shift that a person started, or a practice run of zonal autoshift.
type ZonalShift struct {
	ID       string `json:"zonalShiftId"`
	Resource string `json:"resourceIdentifier"` // ARN
	AwayFrom string `json:"awayFrom"`           // the zone's id: usw2-az1
	Started  Time   `json:"startTime"`
	Expires  Time   `json:"expiryTime"`
	Status   string `json:"status"`              // ACTIVE, EXPIRED, CANCELED
	Type     string `json:"shiftType,omitempty"` // ZONAL_SHIFT, PRACTICE_RUN, FIS_EXPERIMENT, ZONAL_AUTOSHIFT
	Comment  string `json:"comment"`
}

// Autoshift is one that AWS started, for all resources of the Region for which autoshift
// is on.
type Autoshift struct {
	AwayFrom string `json:"awayFrom"`
	Started  Time   `json:"startTime"`
	Status   string `json:"status"` // ACTIVE, COMPLETED
}

// ManagedResource is a resource that is registered, and the autoshifts of it.
type ManagedResource struct {
	ARN        string `json:"arn"`
	Autoshifts []struct {
		Applied  string `json:"appliedStatus"` // APPLIED, NOT_APPLIED
		AwayFrom string `json:"awayFrom"`
		Started  Time   `json:"startTime"`
	} `json:"autoshifts"`
}

// Ask is the parameters of a call; one that a call does not have stays empty.
type Ask struct {
	Status     string
	MaxResults int32
	NextToken  string
}

type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"nextToken,omitempty"`
}

// ZonalShifts gives a page of the account's active zonal shifts, and the token of the next
// page. It fails with *smithy.OperationError, as all calls do here.
func (c *Client) ZonalShifts(ctx context.Context, token string) ([]ZonalShift, string, error) {
	return list[ZonalShift](ctx, c, "ListZonalShifts", "zonalshifts", "ACTIVE", token)
}

// Autoshifts gives a page of the Region's active autoshifts likewise.
func (c *Client) Autoshifts(ctx context.Context, token string) ([]Autoshift, string, error) {
	return list[Autoshift](ctx, c, "ListAutoshifts", "autoshifts", "ACTIVE", token)
}

// ManagedResources gives a page of the account's registered resources likewise.
func (c *Client) ManagedResources(ctx context.Context, token string) ([]ManagedResource, string, error) {
	return list[ManagedResource](ctx, c, "ListManagedResources", "managedresources", "", token)
}

func list[T any](ctx context.Context, c *Client, operation, path, status, token string) ([]T, string, error) {
	ask := Ask{Status: status, MaxResults: mostOfPage, NextToken: token}
	query := url.Values{"maxResults": {fmt.Sprint(ask.MaxResults)}}
	if status != "" {
		query.Set("status", status)
	}
	if token != "" {
		query.Set("nextToken", token)
	}
	var out page[T]
	err := c.calls.Get(ctx, operation, path, query, ask, &out)
	return out.Items, out.Next, err
}
