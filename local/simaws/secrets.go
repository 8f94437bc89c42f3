package simaws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"rollcall/local/platform/wire"
)

// SecretARN is the ARN that a secret of the stage has. Secrets Manager adds
// six characters to the name; here they are derived from it.
func SecretARN(region, account, name string) string {
	sum := sha256.Sum256([]byte(name))
	return "arn:aws:secretsmanager:" + region + ":" + account + ":secret:" + name + "-" + hex.EncodeToString(sum[:])[:6]
}

// currentStage is the label of the version in use. The stage's secrets have
// only that one.
const currentStage = "AWSCURRENT"

func (c *Cloud) getSecretValue(_ context.Context, _ *wire.Call, in *secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error) {
	c.secrets.RLock()
	defer c.secrets.RUnlock()
	name, ok := c.findSecret(aws.ToString(in.SecretId))
	if !ok {
		return nil, wire.Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	}
	if stage := aws.ToString(in.VersionStage); stage != "" && stage != currentStage {
		return nil, wire.Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label: %s", stage)
	}
	sum := sha256.Sum256([]byte("version " + name))
	version := hex.EncodeToString(sum[:16])
	version = strings.Join([]string{version[:8], version[8:12], version[12:16], version[16:20], version[20:]}, "-")
	if id := aws.ToString(in.VersionId); id != "" && id != version {
		return nil, wire.Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret value for VersionId: %s", id)
	}
	return &secretsmanager.GetSecretValueOutput{
		ARN: aws.String(SecretARN(c.cfg.Region, c.cfg.Account, name)), Name: aws.String(name),
		SecretString: aws.String(c.cfg.Secrets[name]), VersionId: aws.String(version), VersionStages: []string{currentStage},
	}, nil
}

// SetSecret gives a secret another value, as an operator does who fills it in.
func (c *Cloud) SetSecret(name, value string) {
	c.secrets.Lock()
	defer c.secrets.Unlock()
	c.cfg.Secrets[name] = value
}

// findSecret finds a secret by its name, its ARN, or its ARN without the six
// characters at the end.
func (c *Cloud) findSecret(id string) (name string, ok bool) {
	if _, ok := c.cfg.Secrets[id]; ok {
		return id, true
	}
	for name := range c.cfg.Secrets {
		arn := SecretARN(c.cfg.Region, c.cfg.Account, name)
		if id == arn || id == arn[:len(arn)-7] {
			return name, true
		}
	}
	return "", false
}
