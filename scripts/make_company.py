"""Write examples/company: an invented company, who writes to whom, in plain CSV files.

`python scripts/make_company.py` writes edges.csv and nodes.csv of 400 people, and the same company
a month later, with 40 newcomers, in examples/company-later.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

TEAMS = {
    "sales": ("account manager", "sales lead", "field sales"),
    "support": ("support agent", "support lead", "customer care"),
    "engineering": ("software engineer", "platform engineer", "engineering lead"),
    "data": ("data scientist", "data engineer", "analytics lead"),
    "design": ("product designer", "brand designer", "design lead"),
    "finance": ("accountant", "controller", "finance lead"),
}
LEVELS = ("junior", "senior", "principal", "")
CITIES = ("Bergen", "Lisbon", "Nairobi", "Osaka", "Quito")
FIRST = ("ada", "bo", "cai", "dina", "eli", "finn", "gia", "hugo", "ines", "jun", "kofi", "lena")
LAST = ("abara", "berg", "costa", "diaz", "eriksen", "fujita", "haddad", "ito", "keller", "lund")
PEOPLE, NEWCOMERS, MESSAGES = 400, 40, 6


class Person(NamedTuple):
    """A row of nodes.csv."""

    id: str
    title: str
    city: str
    years: float
    salary: int
    remote: str
    team: str


def make_people(count: int, random: np.random.Generator) -> list[Person]:
    """Draw people: a team shows in the title and a little in everything else."""
    ids = [f"{first}.{last}" for first in FIRST for last in LAST]
    ids += [f"{name}.{number}" for number in (2, 3, 4) for name in ids]
    chosen = random.permutation(len(ids))[:count]
    return [_person(ids[i], random) for i in chosen]


def _person(person: str, random: np.random.Generator) -> Person:
    number = int(random.integers(len(TEAMS)))
    team = tuple(TEAMS)[number]
    words = TEAMS[team] if random.random() < 0.7 else TEAMS[str(random.choice(tuple(TEAMS)))]
    title = f"{random.choice(LEVELS)} {random.choice(words)}".strip()
    city = CITIES[(number + int(random.integers(3))) % len(CITIES)]
    years = round(float(random.gamma(2.0, 2.5)), 1)
    salary = int(34_000 + 2_500 * years + 3_000 * random.random())
    return Person(person, title, city, years, salary, str(random.random() < 0.3).lower(), team)


def make_messages(people: list[Person], random: np.random.Generator) -> list[tuple[str, str, int]]:
    """Draw who writes to whom: four of five messages stay in the team."""
    by_team = {team: [p.id for p in people if p.team == team] for team in TEAMS}
    everyone = [p.id for p in people]
    edges = []
    for person in people:
        for _ in range(int(random.integers(1, MESSAGES))):
            pool = by_team[person.team] if random.random() < 0.8 else everyone
            other = str(random.choice(pool))
            if other != person.id:
                edges.append((person.id, other, int(random.integers(1, 30))))
    return edges


def write(folder: Path, people: list[Person], edges: list[tuple[str, str, int]]) -> None:
    """Write nodes.csv and edges.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, head, rows in (
        ("nodes.csv", Person._fields, people),
        ("edges.csv", ("source", "target", "weight"), edges),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(head)
            writer.writerows(rows)


def main() -> None:
    """Write both folders; the later one holds everybody, so that newcomers have neighbors."""
    random = np.random.default_rng(7)
    people = make_people(PEOPLE + NEWCOMERS, random)
    edges = make_messages(people, random)
    known = {p.id for p in people[:PEOPLE]}
    first = [edge for edge in edges if edge[0] in known and edge[1] in known]
    examples = Path(__file__).parent.parent / "examples"
    write(examples / "company", people[:PEOPLE], first)
    write(examples / "company-later", people, edges)


if __name__ == "__main__":
    main()
