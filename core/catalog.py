"""The eleven award papers of ICML 2025 as data: what each one is and which question its instrument answers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PAPERS", "Paper", "paper"]

_OUTSTANDING = "Outstanding paper, ICML 2025"
_POSITION = "Outstanding position paper, ICML 2025"
_TEST_OF_TIME = "Test of time award, ICML 2025"
_HONOUR = "Test of time honourable mention, ICML 2025"


@dataclass(frozen=True, kw_only=True)
class Paper:
    """One paper of the catalogue.

    ``key`` names the package in ``core``, the page file and the path in the address. ``built`` says whether the
    instrument stands; the home page shows all eleven either way.
    """

    key: str
    short: str
    title: str
    authors: str
    award: str
    arxiv: str
    question: str
    shows: str
    icon: str
    built: bool = False

    @property
    def link(self) -> str:
        """Where the paper can be read."""
        return f"https://arxiv.org/abs/{self.arxiv}"


PAPERS: tuple[Paper, ...] = (
    Paper(
        key="conformal",
        short="Conformal prediction",
        title="Conformal Prediction as Bayesian Quadrature",
        authors="Jake C. Snell, Thomas L. Griffiths",
        award=_OUTSTANDING,
        arxiv="2502.13228",
        question="How sure can we be that a model's future error stays below a limit?",
        shows="The whole distribution of the risk after calibration, exactly, beside split conformal, conformal risk "
        "control and RCPS; a planner that says how many more cases to label.",
        icon=":material/target:",
        built=True,
    ),
    Paper(
        key="creativity",
        short="Creative limits",
        title="Roll the Dice & Look Before You Leap: Going Beyond the Creative Limits of Next-Token Prediction",
        authors="Vaishnavh Nagarajan, Chen Henry Wu, Charles Ding, Aditi Raghunathan",
        award=_OUTSTANDING,
        arxiv="2504.15266",
        question="Can a model that predicts one token at a time invent something new?",
        shows="Open-ended graph tasks on which memorised, broken and new answers can be counted.",
        icon=":material/casino:",
    ),
    Paper(
        key="targeting",
        short="Reaching the worst-off",
        title="The Value of Prediction in Identifying the Worst-Off",
        authors="Unai Fischer-Abaigar, Christoph Kern, Juan Carlos Perdomo",
        award=_OUTSTANDING,
        arxiv="2501.19334",
        question="Should the next euro buy a better prediction or more places to help?",
        shows="Who is reached at a given capacity, on a register, and what one more place or a better model is worth.",
        icon=":material/groups:",
        built=True,
    ),
    Paper(
        key="masked_diffusion",
        short="Token ordering",
        title="Train for the Worst, Plan for the Best: Understanding Token Ordering in Masked Diffusions",
        authors="Jaeyeon Kim, Kulin Shah, Vasilis Kontonis, Sham Kakade, Sitan Chen",
        award=_OUTSTANDING,
        arxiv="2502.06768",
        question="In which order should a masked diffusion model fill in the blanks?",
        shows="Decoders side by side on Sudoku, step by step, with the order drawn on the board.",
        icon=":material/grid_on:",
    ),
    Paper(
        key="score_matching",
        short="Missing data",
        title="Score Matching with Missing Data",
        authors="Josh Givens, Song Liu, Henry W. J. Reeve",
        award=_OUTSTANDING,
        arxiv="2506.00557",
        question="Which variables are directly related when a third of the table is missing?",
        shows="Sparse graphical models from incomplete tables, with edge stability and a check of what is missing.",
        icon=":material/hub:",
    ),
    Paper(
        key="collaboration",
        short="CollabLLM",
        title="CollabLLM: From Passive Responders to Active Collaborators",
        authors="Shirley Wu, Michel Galley, Baolin Peng, Hao Cheng, Gavin Li, Yao Dou, Weixin Cai, James Zou, "
        "Jure Leskovec, Jianfeng Gao",
        award=_OUTSTANDING,
        arxiv="2502.00640",
        question="When should an assistant ask before it writes?",
        shows="Rewards that look at the whole conversation, in a simulated gym and on real logs.",
        icon=":material/forum:",
    ),
    Paper(
        key="future_of_work",
        short="Future of work",
        title="Position: AI Safety Should Prioritize the Future of Work",
        authors="Sanchaita Hazra, Bodhisattwa Prasad Majumder, Tuhin Chakrabarty",
        award=_POSITION,
        arxiv="2504.13959",
        question="What happens to wages and to those who made the training data?",
        shows="Standard economic models that make the paper's arguments testable, as scenarios side by side.",
        icon=":material/work:",
    ),
    Paper(
        key="peer_review",
        short="Peer review",
        title="Position: The AI Conference Peer Review Crisis Demands Author Feedback and Reviewer Rewards",
        authors="Jaeho Kim, Yunseok Lee, Seulki Lee",
        award=_POSITION,
        arxiv="2505.04966",
        question="Would author feedback and rewards mend conference reviewing?",
        shows="A conference as a simulation, and assignment of papers to reviewers on a chair's own numbers.",
        icon=":material/rate_review:",
    ),
    Paper(
        key="batch_norm",
        short="Batch normalization",
        title="Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift",
        authors="Sergey Ioffe, Christian Szegedy",
        award=_TEST_OF_TIME,
        arxiv="1502.03167",
        question="Why does normalising each batch let a network learn faster, and when does it fail?",
        shows="Activations moving through the layers while a network trains, with and without.",
        icon=":material/equalizer:",
    ),
    Paper(
        key="trust_region",
        short="TRPO",
        title="Trust Region Policy Optimization",
        authors="John Schulman, Sergey Levine, Philipp Moritz, Michael I. Jordan, Pieter Abbeel",
        award=_HONOUR,
        arxiv="1502.05477",
        question="How far may a policy move in one step without getting worse?",
        shows="One update taken apart, and an agent that learns to balance, hop and swim.",
        icon=":material/directions_run:",
    ),
    Paper(
        key="flows",
        short="Normalizing flows",
        title="Variational Inference with Normalizing Flows",
        authors="Danilo Jimenez Rezende, Shakir Mohamed",
        award=_HONOUR,
        arxiv="1505.05770",
        question="How can a simple cloud of samples be bent into a complicated posterior?",
        shows="A density transformed layer by layer, with its error and the modes it lost.",
        icon=":material/waves:",
    ),
)


def paper(key: str) -> Paper:
    """The catalogue's entry of that key; KeyError for a key that names no paper."""
    return {entry.key: entry for entry in PAPERS}[key]
