package command

import (
	"context"
	"fmt"
	"time"

	"rollcall/local/caller"
	"rollcall/local/doctor"
	"rollcall/shared/awsconf"
	"rollcall/shared/spoke"
)

// elsewhere is how the accounts of spokes are looked at.
type elsewhere struct {
	role     string
	profiles map[string]string // by the account
}

// opened opens a spoke's account and region: with the caller's own credentials where it is
// the caller's account, else by a profile of it, else by a role in it.
func (e elsewhere) opened(by caller.Caller, who caller.Options) func(context.Context, spoke.ID) (doctor.Elsewhere, error) {
	return func(ctx context.Context, id spoke.ID) (doctor.Elsewhere, error) {
		cfg := by.AWS.Copy()
		cfg.Region = id.Region
		profile := e.profiles[id.Account]
		switch {
		case profile != "":
			other, err := callerOf(ctx, caller.Options{Region: id.Region, Profile: profile, Endpoint: who.Endpoint, MFA: who.MFA})
			if err != nil {
				return doctor.Elsewhere{}, fmt.Errorf("the profile %s: %w", profile, err)
			}
			if other.Account != id.Account {
				return doctor.Elsewhere{}, fmt.Errorf("the profile %s is of account %s, and --spoke-profile names it for %s", profile, other.Account, id.Account)
			}
			cfg = other.AWS
		case id.Account == by.Account:
		case e.role != "":
			cfg = awsconf.Assume(by.AWS, awsconf.Role{
				ARN: "arn:" + id.Partition() + ":iam::" + id.Account + ":role/" + e.role, Session: "rollcall-doctor", Region: id.Region,
			}, time.Now)
			if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
				return doctor.Elsewhere{}, fmt.Errorf("the role %s of account %s: %w", e.role, id.Account, err)
			}
		default:
			return doctor.Elsewhere{}, doctor.ErrNoWay
		}
		return doctor.NewElsewhere(cfg), nil
	}
}
