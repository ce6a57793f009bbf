#!/usr/bin/env python3
"""Puts a report below a pull request of GitHub or a merge request of GitLab: one comment, which is edited from then on.

usage: comment.py FILE

The first line of FILE is a mark (<!-- pellucid-perf:NAME -->) by which the comment is found again. Where it goes is
read from the variables that the pipeline sets; GITHUB_TOKEN or GITLAB_TOKEN (a project access token with the scope api)
has to be given.
Exit status: 0 written, or not permitted (which is told); 1 something else failed; 2 wrong usage.
"""

import json
import os
import sys
import urllib.error
import urllib.request

PAGE = 100


class Forge:
    """Where comments are listed and made, and how one of them is changed."""

    def __init__(self, comments, header, change, one):
        self.comments, self.header, self.change, self.one = comments, header, change, one

    def ask(self, method, url, body=None):
        data = None if body is None else json.dumps({"body": body}).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "pellucid-comment", **self.header}
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def find(self, mark):
        """The identifier of the comment with this mark; None: there is none."""
        page = 1
        while True:
            found = self.ask("GET", f"{self.comments}?per_page={PAGE}&page={page}")
            for comment in found:
                if (comment.get("body") or "").startswith(mark):
                    return comment["id"]
            if len(found) < PAGE:
                return None
            page += 1

    def put(self, text):
        known = self.find(text.split("\n", 1)[0])
        if known is None:
            self.ask("POST", self.comments, text)
            return "made"
        self.ask(self.change, f"{self.one}/{known}", text)
        return "edited"


def github():
    with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
        number = json.load(file)["pull_request"]["number"]
    issues = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    header = {"Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"}
    return Forge(f"{issues}/{number}/comments", header, "PATCH", f"{issues}/comments")


def gitlab():
    project = f"{os.environ['CI_API_V4_URL']}/projects/{os.environ['CI_PROJECT_ID']}"
    notes = f"{project}/merge_requests/{os.environ['CI_MERGE_REQUEST_IID']}/notes"
    return Forge(notes, {"PRIVATE-TOKEN": os.environ["GITLAB_TOKEN"]}, "PUT", notes)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            text = file.read()
        if not text.startswith("<!-- pellucid-perf:"):
            print(f"comment.py: {sys.argv[1]} is no report of `oshprof diff --markdown`", file=sys.stderr)
            return 2
        forge = gitlab() if "CI_MERGE_REQUEST_IID" in os.environ else github()
        print(f"comment.py: {forge.put(text)}")
    except KeyError as missing:
        print(f"comment.py: {missing} is not set: is this the pipeline of a pull request?", file=sys.stderr)
        return 1
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            # The token of a pull request from a fork may only read.
            print(f"comment.py: the token may not write ({error.code}): no comment, see the report of the job")
            return 0
        print(f"comment.py: {error.url}: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"comment.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
