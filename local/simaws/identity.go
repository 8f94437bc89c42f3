package simaws

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"

	"rollcall/local/platform/wire"
)

// Identity is someone who can sign requests: a function's role or a person.
type Identity struct {
	wire.Principal
	AccessKeyID, SecretAccessKey string
	// RoleARN is the role behind an assumed-role ARN: what access entries
	// name. For a user it is the user's ARN.
	RoleARN string
	// Admin may do everything in every cluster, as the one who made the
	// cluster may.
	Admin bool
}

// RoleIdentity is the identity of a function whose execution role has the
// function's name. Its keys are derived from the name, so they are the same in
// each run; they open nothing but the stage.
func RoleIdentity(account, name string) Identity {
	id, secret := keysFor("role/" + name)
	return Identity{
		Principal: wire.Principal{Name: name, Account: account,
			ARN: "arn:aws:sts::" + account + ":assumed-role/" + name + "/" + name},
		RoleARN:     "arn:aws:iam::" + account + ":role/" + name,
		AccessKeyID: id, SecretAccessKey: secret,
	}
}

// AdminIdentity is the person at the keyboard, with the AWS CLI and kubectl.
func AdminIdentity(account, name string) Identity {
	id, secret := keysFor("user/" + name)
	arn := "arn:aws:iam::" + account + ":user/" + name
	return Identity{
		Principal:   wire.Principal{Name: name, Account: account, ARN: arn},
		RoleARN:     arn,
		AccessKeyID: id, SecretAccessKey: secret, Admin: true,
	}
}

// keysFor derives an access key id of AWS's form, and a secret key.
func keysFor(name string) (id, secret string) {
	sum := sha256.Sum256([]byte("rollcall stage " + name))
	return "AKIA" + base32.StdEncoding.EncodeToString(sum[:])[:16], hex.EncodeToString(sum[:])[:40]
}

// userID is what STS calls UserId: an unpredictable id, and for a role the
// session's name behind it.
func (i Identity) userID() string {
	sum := sha256.Sum256([]byte(i.RoleARN))
	id := base32.StdEncoding.EncodeToString(sum[:])[:17]
	if !strings.Contains(i.ARN, ":assumed-role/") {
		return "AIDA" + id
	}
	return "AROA" + id + ":" + i.ARN[strings.LastIndex(i.ARN, "/")+1:]
}

// directory finds identities by their access key id.
type directory map[string]Identity

func newDirectory(ids []Identity) directory {
	d := directory{}
	for _, id := range ids {
		d[id.AccessKeyID] = id
	}
	return d
}

func (d directory) principal(accessKeyID string) (wire.Principal, bool) {
	id, ok := d[accessKeyID]
	return id.Principal, ok
}

func (d directory) secret(accessKeyID string) (string, bool) {
	id, ok := d[accessKeyID]
	return id.SecretAccessKey, ok
}

// secretFor tells the secret key of an access key id. The owner is returned as
// the access key id itself, which the caller looks up again.
func (d directory) secretFor(accessKeyID string) (secret, owner string, ok bool) {
	id, ok := d[accessKeyID]
	return id.SecretAccessKey, accessKeyID, ok
}
