"""The paper and research: its tasks, membership, authorship, learnt and language-model attackers, baselines,
mechanisms compared.

Nothing outside imports it. Its needs stand behind the extra ``lab``; on the command line it is ``deniable
lab``.
"""

from deniable.audit.results import AUDITS
from deniable.measures.catalogue import MEASURES

AUDITS.update(
    membership="deniable.lab.membership.audit:MembershipResult",
    authorship="deniable.lab.authorship:AuthorshipResult",
)
MEASURES["author"] = "deniable.lab.authorship:ShareOfAuthors"
