# Rollcall. A bare `make` lists the targets.
#
# All builds share one set of flags, so that they share one build cache: the
# EC2 client alone takes a minute to compile.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath -buildvcs=false
# CDK without its banners, telemetry and version look-ups.
export CDK_DISABLE_VERSION_CHECK := 1
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

FUNCTIONS := $(notdir $(wildcard functions/*))
LAMBDA    := -tags lambda.norpc -ldflags '-s -w' -buildvcs=auto
CDK       := infra/node_modules/.bin/cdk
TEMPLATE  := infra/Rollcall.template.json
# Everything but infra, whose compiler bill is CDK's.
PACKAGES  := . ./cmd/... ./shared/... ./functions/... ./command/... ./stage/... ./tools/... ./events/...

# A Go that is too old fails on go.mod ("unknown directive: ignore") and does not name the
# version that it needs. Go itself downloads it, unless GOTOOLCHAIN=local forbids that
# (https://go.dev/doc/toolchain).
ifneq ($(filter-out help site,$(or $(MAKECMDGOALS),help)),)
GO_NEEDED := $(shell sed -n 's/^go //p' go.mod)
GO_FOUND  := $(or $(patsubst go%,%,$(word 3,$(shell go version 2>/dev/null))),0)
ifneq ($(firstword $(shell printf '%s\n' $(GO_NEEDED) $(GO_FOUND) | sort -V)),$(GO_NEEDED))
$(error Go $(GO_NEEDED) or newer is needed, and $(if $(filter 0,$(GO_FOUND)),there is none,this is Go $(GO_FOUND)): install it from https://go.dev/dl, or set GOTOOLCHAIN=auto if Go may download it)
endif
endif

.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## play the route story on a simulated AWS (STORY=spot, ips, zone, karpenter or organization another, STORY=all the six; KEEP=1 leaves the button to you, and the stage up)
	@echo "building rollcall (a first build compiles the AWS SDK: a minute or two)"
	@go build $(LAMBDA) -o build/rollcall-stage ./cmd/rollcall-stage
	@build/rollcall-stage demo --logs out/demo.log $(filter-out all,$(or $(STORY),route)) $(if $(KEEP),--keep) $(DEMO)

# A quarter of the tests' work is the garbage of small heaps. What is big to compile
# is compiled before, with the compiler's own ways. Another quarter is linking: without
# tables for a debugger it takes little more than half as long, and a panic has its lines still.
GARBAGE := GOGC=1000
TESTED  := -ldflags=-w

test: ## run all tests; what they play many of in a smaller number (four minutes on two cores from a warm build cache)
	@go build $(PACKAGES)
	@$(ZSH)
	CDK_VALIDATION=false $(GARBAGE) go test $(TESTED) -p 4 -timeout 20m $(LONGEST) $(PACKAGES)

# What takes longest begins first, so that nothing is left to run alone at the end.
LONGEST := ./infra/... ./stage

ZSH := command -v zsh >/dev/null || echo "zsh IS NOT INSTALLED: the commands that the stack prints are tried in bash alone"

# Packages of tests that use tools/testfull, or kill a function at each write.
FULL = $(sort $(shell grep -rlE --include=*_test.go '"rollcall/tools/testfull"|stagetest\.KilledAtEachWrite' cmd shared functions command stage tools infra | xargs -n 1 dirname | sed 's,^,./,'))

test-full: ## run the tests that play many histories, months, worlds and kills at their full number
	@go build $(PACKAGES)
	ROLLCALL_TEST_FULL=1 CDK_VALIDATION=false $(GARBAGE) go test $(TESTED) -timeout 40m $(FULL)

# OpenTofu where neither it nor Terraform is installed, as its own go.mod has it: go install
# refuses a module with a replace.
build/tofu:
	@mkdir -p build/opentofu
	@printf 'module opentofu\n\ngo 1.26\n\nrequire github.com/opentofu/opentofu v1.12.6\n\nreplace github.com/hashicorp/hcl/v2 v2.20.1 => github.com/opentofu/hcl/v2 v2.20.2-0.20251021132045-587d123c2828\n' > build/opentofu/go.mod
	cd build/opentofu && GOFLAGS=-mod=mod go build -trimpath -o ../tofu github.com/opentofu/opentofu/cmd/tofu

test-terraform: $(if $(shell command -v tofu || command -v terraform),,build/tofu) ## validate, plan, apply and test deploy/terraform over a provider of the tests' own
	ROLLCALL_TERRAFORM=$(or $(shell command -v tofu || command -v terraform),$(CURDIR)/build/tofu) go test -count=1 -v -run TestTerraform ./tools/terraform
	@echo "NOT RUN: AWS's own provider (hashicorp/aws). Its schemas are those of its documentation; nothing was called."

# What this release writes is kept for those after it, until its tag anew; then of the next one, before its tag.
release-samples:
	@test -n "$(RELEASE)" || { echo "make release-samples RELEASE=1"; exit 2; }
	rm -rf stage/release/testdata/$(RELEASE)
	go run ./cmd/rollcall-stage demo --samples stage/release/testdata/$(RELEASE)
	git rev-parse HEAD > stage/release/testdata/$(RELEASE)/commit

build: ## build the functions for Lambda (arm64)
	@for f in $(FUNCTIONS); do \
	  echo "build/arm64/$$f/bootstrap"; \
	  GOOS=linux GOARCH=arm64 go build $(LAMBDA) -o build/arm64/$$f/bootstrap ./functions/$$f || exit 1; \
	done

release: ## build a release into build/release: the command for six platforms, the functions, sums, SBOMs, licences, changelog: [REPOSITORY=owner/name] [AGAIN=1 builds it twice] [PLATFORMS=linux/amd64]
	go run ./tools/dist $(if $(REPOSITORY),-repository '$(REPOSITORY)') $(if $(AGAIN),-again) $(if $(PLATFORMS),-platforms '$(PLATFORMS)')

weigh: ## print what the repository weighs: lines, tests, files, packages, test data, and what programs link
	@go run ./tools/weigh -reach

site: docs/site/node_modules ## build the documentation's site into build/site (Node alone) [REPOSITORY=owner/name for links to the code] [SITE_BASE=/path/]
	cd docs/site && REPOSITORY='$(REPOSITORY)' SITE_BASE='$(or $(SITE_BASE),/)' node_modules/.bin/vitepress build

generate: ## write every generated file anew
	go run ./stage/platform/wire/gen
	go run ./tools/eventindex
	go run ./infra/manifests
	go run ./tools/site generate
	go run ./tools/terraform

EVERY_TARGET := sns,pagerduty=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook
# With every function that there is: the stage and the tests see all of them.
synth: ## synthesise the CloudFormation template (no AWS account needed): [SETTINGS=…], else with all functions
	@$(CHECK_SETTINGS) $(if $(SETTINGS),,-no-channel) $(CONTEXT)
	@$(MAKE) -s build infra/node_modules
	$(CDK) synth --quiet $(if $(SETTINGS),,-c slackChannel=C0123456789 $(if $(findstring slackActions=,$(SET)),,-c slackActions=on) $(if $(findstring targets=,$(SET)),,-c targets=$(EVERY_TARGET))) $(CONTEXT)
	@if [ -z "$(SET)$(SETTINGS)" ]; then go run ./infra/normalise -in cdk.out/Rollcall.template.json -out $(TEMPLATE); fi

standard-template: ## write the standard template, whose parameters are the settings: infra/RollcallStandard.template.json (no AWS account needed)
	CDK_VALIDATION=false go run ./infra -standard infra/RollcallStandard.template.json

# A spoke's template: infra/RollcallSpoke.template.json for every spoke in which nothing is
# changed, build/RollcallSpoke.template.json for one with what its clusters opted in to.
SPOKE :=
SPOKE_TEMPLATE = $(if $(SPOKE)$(SET)$(SETTINGS),build/RollcallSpoke.template.json,infra/RollcallSpoke.template.json)

spoke-template: infra/node_modules ## write the template of a spoke, without assets: [SPOKE=222233334444/eu-west-1] [SETTINGS=… SET="remedies=… organization=o-…", as for the hub]
	@$(CHECK_SETTINGS) -no-channel $(CONTEXT)
	@mkdir -p build
	$(CDK) synth --quiet -o build/spoke -c slackChannel=C0123456789 $(CONTEXT) -c spoke=$(if $(SPOKE),$(SPOKE),any)
	@go run ./infra/normalise -indent 1 -in build/spoke/RollcallSpoke.template.json -out $(SPOKE_TEMPLATE) && echo $(SPOKE_TEMPLATE)

deploy-spoke: ## deploy a spoke into the account and region of the caller: HUB=111122223333/us-west-2 EXTERNAL_ID=… [SPOKE=…] [SETTINGS=…] [SET="…"]
	@test -n "$(HUB)" -a -n "$(EXTERNAL_ID)" || { echo "make deploy-spoke HUB=111122223333/us-west-2 EXTERNAL_ID=…"; exit 2; }
	@$(CHECK_SETTINGS) -no-channel $(CONTEXT)
	@$(CHECK_ACCOUNT) -for deploy-spoke -no-channel $(CONTEXT)
	@$(MAKE) -s spoke-template
	@$(STACK_TAGS) && aws cloudformation deploy --stack-name rollcall-spoke --template-file $(SPOKE_TEMPLATE) --capabilities CAPABILITY_NAMED_IAM \
	  --parameter-overrides HubAccount=$(firstword $(subst /, ,$(HUB))) HubRegion=$(lastword $(subst /, ,$(HUB))) 'ExternalId=$(EXTERNAL_ID)' "$$@"

relay-template: infra/node_modules
	@mkdir -p build
	$(CDK) synth --quiet -o build/relay-cdk -c relay=yes
	@go run ./infra/normalise -indent 1 -in build/relay-cdk/RollcallRelay.template.json -out infra/RollcallRelay.template.json

# What was unpacked of a release is what its SHA256SUMS says, or nothing of it is deployed.
# A function that is not in it was not built by the release.
define CHECK_PREBUILT
$(if $(PREBUILT),cd '$(PREBUILT)' && { test -f SHA256SUMS || { echo "$(PREBUILT) has no SHA256SUMS: unpack the archive of a release's functions as a whole"; exit 2; }; } && \
  { if command -v sha256sum >/dev/null; then sha256sum --check --quiet --strict SHA256SUMS; else shasum -a 256 --check --quiet --strict SHA256SUMS; fi || { echo "$(PREBUILT) is not what its release built: nothing was deployed"; exit 2; }; } && \
  for f in functions/*.zip; do grep -qxE "[0-9a-f]{64}  $$f" SHA256SUMS || { echo "$(PREBUILT)/$$f is not in its SHA256SUMS: nothing was deployed"; exit 2; }; done,true)
endef

deploy-relay: ## deploy the relay of a cluster with a private endpoint only, into the account and region of the caller: CLUSTER=prod BUCKET=… [PREFIX=rollcall] [PREBUILT=…] [SETTINGS=…] [SET="…"]
	@test -n "$(CLUSTER)" -a -n "$(BUCKET)" || { echo "make deploy-relay CLUSTER=prod BUCKET=a-bucket-of-this-region"; exit 2; }
	@$(CHECK_PREBUILT)
	@$(CHECK_ACCOUNT) -for deploy-relay -no-channel
	@go run ./infra/relayparameters -look -cluster '$(CLUSTER)' $(FILE) $(CONTEXT)
	@mkdir -p build && $(if $(PREBUILT),true,$(MAKE) -s build FUNCTIONS=relay)
	@go run ./infra/relayparameters -cluster '$(CLUSTER)' -bucket '$(BUCKET)' -prefix '$(or $(PREFIX),rollcall)' -program '$(if $(PREBUILT),$(PREBUILT)/functions/relay.zip,build/arm64/relay/bootstrap)' $(FILE) $(CONTEXT) > build/relay-stack
	aws s3 cp --only-show-errors build/relay/relay.zip 's3://$(BUCKET)/'"$$(cat build/relay/key)"
	@$(STACK_TAGS) && aws cloudformation deploy --stack-name "$$(cat build/relay-stack)" --template-file infra/RollcallRelay.template.json --capabilities CAPABILITY_IAM \
	  --parameter-overrides file://build/relay/parameters.json "$$@"

# make deploy SETTINGS=rollcall.yaml (deploy/rollcall.yaml is a sample), or
# make deploy CHANNEL=C0123456789 CLUSTERS=prod,dev SET="joinTime=4m logRetentionDays=90"
# A blank after a comma ("prod, dev") is taken away; what stands in it is quoted
# for the shell.
comma := ,
space := $(subst x,,x x)
tidy   = $(subst $(space)$(comma),$(comma),$(subst $(comma)$(space),$(comma),$(strip $1)))
quote  = '$(subst ','\'',$1)'
CONTEXT = $(if $(CHANNEL),-c $(call quote,slackChannel=$(strip $(CHANNEL)))) $(if $(CLUSTERS),-c $(call quote,clusters=$(call tidy,$(CLUSTERS)))) $(foreach pair,$(call tidy,$(SET)),-c $(call quote,$(pair)))
# The line wins over the file, which the CDK app reads itself.
SETTINGS :=
synth spoke-template deploy diff destroy: export ROLLCALL_SETTINGS = $(SETTINGS)

# What stands on the make line: make itself takes CLUSTER=prod without a word.
GIVEN = $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $v)),$v))
# Both look before anything is built; the first is compiled in seconds, the
# second asks AWS whose the credentials are.
FILE = $(if $(SETTINGS),-settings $(call quote,$(SETTINGS)))
CHECK_SETTINGS = go run ./infra/checksettings $(FILE) -variables "$(strip $(GIVEN))"
CHECK_ACCOUNT  = go run ./infra/checkaccount $(FILE)
# The tags of the settings file, as words for the AWS CLI: "$$@".
STACK_TAGS = tags=$$(go run ./infra/checksettings $(FILE) -no-channel -tags $(CONTEXT)) && eval "set -- $$tags"

bootstrap: ## prepare the account and region for CDK, once: [AWS_PROFILE=…] [AWS_REGION=…]
	@$(CHECK_SETTINGS) -no-channel
	@place=$$($(CHECK_ACCOUNT) -for bootstrap -no-channel) && $(MAKE) -s infra/node_modules && \
	  cd infra && echo "cdk bootstrap $$place" && node_modules/.bin/cdk bootstrap "$$place"

# The functions of a release, unpacked, in place of a build of this machine.
PREBUILT :=
deploy diff: export ROLLCALL_PREBUILT = $(if $(PREBUILT),$(abspath $(PREBUILT)))

deploy: ## deploy: SETTINGS=rollcall.yaml, or CHANNEL=C0123456789 [CLUSTERS=prod,dev] [SET="key=value …"] [PREBUILT=folder of a release's functions]
	@$(CHECK_SETTINGS) $(CONTEXT)
	@$(CHECK_PREBUILT)
	@found=$$($(CHECK_ACCOUNT) -for deploy $(CONTEXT)) && $(MAKE) -s $(if $(PREBUILT),,build) infra/node_modules && \
	  echo "cdk deploy --all" && $(CDK) deploy --all $(CONTEXT) $$found

diff: ## show what a deployment of these settings would change: as for deploy
	@$(CHECK_SETTINGS) $(CONTEXT)
	@found=$$($(CHECK_ACCOUNT) -for diff $(CONTEXT)) && $(MAKE) -s $(if $(PREBUILT),,build) infra/node_modules && \
	  $(CDK) diff --all $(CONTEXT) $$found

destroy: ## remove the stack (the table and the secret stay)
	@$(CHECK_SETTINGS) -no-channel $(CONTEXT)
	@$(CHECK_ACCOUNT) -for destroy -no-channel $(CONTEXT)
	@$(MAKE) -s build infra/node_modules
	$(CDK) destroy --all -c slackChannel=C0123456789 $(CONTEXT)

redrive: ## show what the dead-letter queues hold; MOVE=1 moves it back [PREFIX=rollcall]
	@$(CHECK_ACCOUNT) -for redrive -no-channel && go run ./infra/redrive -prefix "$(or $(PREFIX),rollcall)" $(if $(MOVE),-move)

lint: ## gofmt, go vet, staticcheck, actionlint
	@found=$$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 ls 2>/dev/null | xargs gofmt -l); test -z "$$found" || { echo "not gofmt-clean:"; echo "$$found"; exit 1; }
	go vet $(PACKAGES) ./infra/...
	go vet -tags cli ./tools/clitest ./command/capture/take ./command && go vet -tags referee ./tools/referee
	go vet -tags commands ./tools/deploytest && go vet -tags slacktypes ./stage/fakeslack/types && go vet -tags kube ./tools/kubetest
	go vet -tags chromium ./tools/browser ./stage/fakeslack/press ./tools/site
	go vet -tags upgrade ./stage && go vet -tags organization ./tools/bench/organization
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 $(PACKAGES) ./infra/...
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

docs/site/node_modules: docs/site/package-lock.json
	cd docs/site && npm ci --no-audit --no-fund --silent
	@touch docs/site/node_modules

infra/node_modules: infra/package-lock.json
	cd infra && npm ci --no-audit --no-fund --silent
	@touch infra/node_modules
